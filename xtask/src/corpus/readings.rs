//! Readings of mails that were graded, as `corpus/readings.tsv` has them.
//!
//! The points at which nothing of a message is judged were chosen with them. A reading is
//! what the auditor of its day compared in a mail, so its grade stays what it is when the
//! auditor reads the mail better; what the points make of it can be asked of every state.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use assize_audit::{GROUPING_BAR, grouping_points};

use super::score::Figure;
use crate::Error;
use crate::tree;

const FILE: &str = "corpus/readings.tsv";
/// No more of what is judged may be graded wrong, in per cent.
const WRONG_AT_MOST: f64 = 5.0;

/// One mail in which something was compared.
#[derive(Debug, PartialEq)]
pub(super) struct Reading {
    /// Which draw of mails it is of.
    draw: u32,
    /// Whether a reader called a pair that was compared wrong.
    wrong: bool,
    /// Points of each form; none where a tool names what it compares.
    forms: Vec<i32>,
}

impl Reading {
    /// Whether anything of it is judged if so many points are too many.
    fn is_judged(&self, bar: i32) -> bool {
        self.forms.is_empty() || self.forms.iter().any(|points| *points < bar)
    }
}

/// All of the file.
pub(super) fn all() -> Result<Vec<Reading>, Error> {
    let path = tree::root()?.join(FILE);
    let text = fs::read_to_string(&path).map_err(|why| format!("{FILE}: {why}"))?;
    let mut met = BTreeSet::new();
    let lines = text.lines().zip(1..);
    let rows = lines.filter(|(line, _)| !line.starts_with('#'));
    rows.map(|(line, number)| {
        let mail: Vec<&str> = line.split('\t').take(2).collect();
        if !met.insert(mail) {
            return Err(format!("{FILE}:{number}: the mail stands there twice"));
        }
        reading(line).map_err(|why| format!("{FILE}:{number}: {why}"))
    })
    .collect()
}

/// Archive, commit, draw, grade and signs, parted by tabulators; the signs of one form by
/// blanks and forms by ` | `, and `-` where a tool names what it compares, or it is a profile.
fn reading(line: &str) -> Result<Reading, Error> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [_archive, _commit, draw, grade, signs] = fields[..] else {
        return Err(format!("{} fields, five are expected", fields.len()));
    };
    let wrong = match grade {
        "right" | "partly" => false,
        "wrong" | "nonsense" => true,
        other => return Err(format!("{other}: is no grade")),
    };
    let points = |form: &str| {
        let each = form.split(' ').skip(1).map(|sign| {
            let points = grouping_points(sign);
            points.ok_or_else(|| format!("{sign}: is no sign of the auditor"))
        });
        each.sum::<Result<i32, Error>>()
    };
    let forms = signs.split(" | ").filter(|form| *form != "-");
    Ok(Reading {
        draw: draw
            .parse()
            .map_err(|_| format!("{draw}: is no number of a draw"))?,
        wrong,
        forms: forms.map(points).collect::<Result<_, Error>>()?,
    })
}

/// Of those that are judged, those that are wrong.
fn judged<'a>(readings: impl Iterator<Item = &'a Reading>, bar: i32) -> Figure {
    let judged = readings.filter(|one| one.is_judged(bar));
    let (part, of) = judged.fold((0, 0), |(wrong, all), one| {
        (wrong + usize::from(one.wrong), all + 1)
    });
    Figure {
        name: "nonsense",
        part,
        of,
        more_is_better: false,
    }
}

/// What each bar makes of them.
pub(super) fn table(readings: &[Reading]) -> String {
    let mut text = String::from(
        "| points at which nothing is judged | judged | of these wrong or nonsense |\n\
         | --- | ---: | ---: |\n",
    );
    let bars = std::iter::once(i32::MAX).chain((GROUPING_BAR - 2..=GROUPING_BAR + 3).rev());
    for bar in bars {
        let shown = match bar {
            i32::MAX => "none".to_owned(),
            GROUPING_BAR => format!("**{bar}**"),
            bar => bar.to_string(),
        };
        let wrong = judged(readings.iter(), bar);
        text += &format!(
            "| {shown} | {} | {} ({:.1} %) |\n",
            wrong.of,
            wrong.part,
            wrong.percent()
        );
    }
    text
}

/// What the bar makes of each draw.
pub(super) fn draws(readings: &[Reading]) -> String {
    let mut by: BTreeMap<u32, Vec<&Reading>> = BTreeMap::new();
    for one in readings {
        by.entry(one.draw).or_default().push(one);
    }
    let mut text = String::from(
        "| draw | mails | wrong or nonsense | judged with the points | of these wrong or nonsense |\n\
         | --- | ---: | ---: | ---: | ---: |\n",
    );
    for (draw, these) in by {
        let each = |bar| judged(these.iter().copied(), bar);
        let (all, left) = (each(i32::MAX), each(GROUPING_BAR));
        text += &format!(
            "| {draw} | {} | {} ({:.0} %) | {} | {} ({:.1} %) |\n",
            all.of,
            all.part,
            all.percent(),
            left.of,
            left.part,
            left.percent()
        );
    }
    text
}

/// Says if too much of what is judged is wrong.
pub(super) fn faults(readings: &[Reading]) -> Option<String> {
    let wrong = judged(readings.iter(), GROUPING_BAR);
    (wrong.percent() > WRONG_AT_MOST).then(|| {
        format!(
            "{FILE}: with {GROUPING_BAR} points {} of {} readings are wrong, {:.1} %; \
             {WRONG_AT_MOST} % at most",
            wrong.part,
            wrong.of,
            wrong.percent()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "list.0\tabc\t1\twrong\tOrdered NoState LongNames | Sentence WholeSentence";

    #[test]
    fn a_reading_has_points_for_each_form() {
        let read = reading(ROW).unwrap();
        assert!(read.wrong);
        let points = |sign| grouping_points(sign).unwrap();
        let ordered = points("NoState") + points("LongNames");
        assert_eq!(read.forms, [ordered, points("WholeSentence")]);
        assert!(read.is_judged(ordered.max(points("WholeSentence")) + 1));
        assert!(!read.is_judged(ordered.min(points("WholeSentence"))));
        // What a tool compares is judged whatever is said against it.
        let tool = reading("list.0\tabc\t1\tright\t-").unwrap();
        assert!(tool.is_judged(-99));
    }

    #[test]
    fn an_unknown_sign_or_grade_is_an_error() {
        let of = |from: &str, to: &str| reading(&ROW.replace(from, to)).unwrap_err();
        assert_eq!(of("NoState", "NoStat"), "NoStat: is no sign of the auditor");
        assert_eq!(of("wrong", "bad"), "bad: is no grade");
        assert_eq!(of("\t1\t", "\tlast\t"), "last: is no number of a draw");
        assert!(of("\t1", "").contains("4 fields"));
    }

    #[test]
    fn draws_stand_in_the_order_of_their_numbers() {
        let of = |draw: u32| reading(&format!("list.0\tabc\t{draw}\tright\tOrdered")).unwrap();
        let text = draws(&[of(10), of(9), of(10)]);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(rows.len(), 2);
        assert!(rows[0].starts_with("| 9 | 1 |") && rows[1].starts_with("| 10 | 2 |"));
    }

    #[test]
    fn too_much_that_is_wrong_is_a_fault() {
        let wrong = || reading(ROW).unwrap();
        let right = || reading("list.0\tabc\t1\tright\tOrdered").unwrap();
        assert!(faults(&[wrong(), right()]).is_none(), "it is not judged");
        let clear = || Reading {
            forms: vec![0],
            ..wrong()
        };
        assert!(faults(&[clear(), right()]).is_some());
        let many: Vec<Reading> = (0..19).map(|_| right()).chain([clear()]).collect();
        assert!(faults(&many).is_none());
    }
}
