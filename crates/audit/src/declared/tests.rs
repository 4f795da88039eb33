use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

/// Texts of each form.
const TEXTS: [&str; 9] = [
    "configuration,workload,metric,unit,value\na,b,t,s,1.5\nb,b,t,s,2\n",
    "config;mean;sd;n\na;1,5;0,1;8\nb;2,5;0,1;8\n",
    "| config | value [ms] | change |\n|---|---|---|\n| a | 1 | |\n| b | 2 ms | +100 % |\n",
    "{\"configuration\":\"a\",\"value\":1}\n{\"configuration\":\"b\",\"value\":2}\n",
    "+---+---+\n| config | time s < |\n+---+---+\n| a | 1 |\n| b | 2 |\n+---+---+\n",
    "1.5\n2.5\n# no\n3\n",
    "{\"context\":{},\"benchmarks\":[{\"name\":\"x\",\"real_time\":1.0,\"cpu_time\":1,\"time_unit\":\"ns\"}]}",
    "<?xml?><PhoronixTestSuite><Result><Title>t</Title><Scale>s</Scale><Data><Entry><Identifier>a\
     </Identifier><Value>1</Value><RawString>1:2</RawString></Entry></Data></Result></PhoronixTestSuite>",
    "[{\"jmhVersion\":\"1\",\"benchmark\":\"b\",\"mode\":\"avgt\",\"primaryMetric\":{\"scoreUnit\":\"s\",\
     \"rawData\":[[1,2],[3]]}}]",
];
const PIECES: [&str; 16] = [
    ",", "\n", "|", "\"", "\u{b1}", "\u{2502}", "1e308", "-", "nan", "\u{0}", "\t", "<", "{",
    "\u{fe0f}", "order", "=",
];

proptest! {
    #[test]
    fn no_text_makes_it_panic(
        form in 0..TEXTS.len(),
        edits in vec((0..3, any::<Index>(), select(PIECES.to_vec())), 0..4),
        is_file in any::<bool>(),
    ) {
        let mut text = TEXTS[form].to_owned();
        for (edit, at, piece) in &edits {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            if places.is_empty() {
                break;
            }
            let at = places[at.index(places.len())];
            match edit {
                0 => text.insert_str(at, piece),
                1 => text.truncate(at),
                _ => drop(text.remove(at)),
            }
        }
        let stands = if is_file { Stands::AsConfiguration } else { Stands::Alone };
        match read(text.as_bytes(), "t", stands, &Options::default()) {
            Ok(Outcome::Declared(one)) => {
                let mut runs = one.records.runs.iter().flat_map(|run| run.metrics.values());
                prop_assert!(runs.all(|one| one.value.is_finite()), "{}", text);
            }
            // Unless it was edited it is read.
            Ok(Outcome::Undeclared(_)) => prop_assert!(!edits.is_empty() || form == 5),
            Err(error) => prop_assert!(!error.to_string().contains('\n'), "{}", error),
        }
        if let Ok(reading) = crate::reading::parse("a | b | t s | 1\nb | b | t | 1.*", "r") {
            let _ = crate::reading::judge(&text, "t", &reading);
        }
        let _ = crate::reading::parse(&text.replace(',', "|"), "r");
    }
}
