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

#[test]
fn no_text_makes_it_panic() {
    let mut state: u32 = 20_261_129;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let mut declared = 0;
    for turn in 0..5_000 {
        let mut text = TEXTS[turn % TEXTS.len()].to_owned();
        for _ in 0..draw(4) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let at = places[draw(places.len())];
            match draw(3) {
                0 => text.insert_str(at, PIECES[draw(PIECES.len())]),
                1 => text.truncate(at),
                _ => drop(text.remove(at)),
            }
            if text.is_empty() {
                break;
            }
        }
        let stands = [Stands::Alone, Stands::AsConfiguration][draw(2)];
        let options = Options::default();
        match read(text.as_bytes(), "t", stands, &options) {
            Ok(Outcome::Declared(one)) => {
                declared += 1;
                let finite = |run: &assize_bundle::Run| {
                    run.metrics.values().all(|one| one.value.is_finite())
                };
                assert!(one.records.runs.iter().all(finite), "{text}");
            }
            Ok(Outcome::Undeclared(_)) => {}
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
        let rows = format!("a | b | t s | {}\nb | b | t | 1.*", 1 + draw(3));
        if let Ok(reading) = crate::reading::parse(&rows, "r") {
            let _ = crate::reading::judge(&text, "t", &reading);
        }
        let _ = crate::reading::parse(&text.replace(',', "|"), "r");
    }
    assert!(declared > 500, "{declared}");
}
