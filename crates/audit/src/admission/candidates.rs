//! Candidates: the configurations of one workload, weighed.

mod compared;
mod units;

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Place;

use super::wording::Wording;
use super::{CONFIGURATIONS_BAR, MEASUREMENTS_BAR, Question, Sign, Signs, alone, contrast};
use crate::grammar::Figure;
use crate::grammar::echoed::has_form_of_any_tool;
use crate::grammar::lists::LONE;
use crate::grammar::perf_stat::PERF_STAT;
use crate::grammar::profile::PROFILE;
use crate::options::Options;
use crate::roles::{NamedBy, words};
use compared::{Compared, other_scale, other_unit};
use units::{has_unit, is_rate};

/// One finding of a candidate, as admission sees it.
pub(crate) struct Member<'a> {
    pub(crate) configuration: &'a str,
    /// The heading or label as it stands in the post.
    pub(crate) label: &'a str,
    pub(crate) figures: Vec<&'a Figure>,
    pub(crate) has_spread: bool,
    pub(crate) format: &'static str,
    pub(crate) named_by: NamedBy,
    pub(crate) signs: &'a [Sign],
    pub(crate) command: Option<&'a str>,
    pub(crate) headings: [Option<&'a str>; 2],
    pub(crate) stand: (u32, u8),
    pub(crate) place: Place,
}

/// What was found of one candidate.
#[derive(Debug, Clone)]
pub(crate) struct Admission {
    pub(crate) workload: String,
    pub(crate) place: Place,
    pub(crate) refused: BTreeSet<String>,
    /// Whether a name is known for that of a configuration, and not only by what stands
    /// around it.
    pub(crate) names_known: bool,
    /// All signs of it and of its names.
    pub(crate) signs: Signs,
    /// For `--explain`.
    pub(crate) said: Vec<String>,
    /// What is missing, if anything was refused.
    pub(crate) missing: Option<String>,
}

/// Weighs one workload's configurations; none if there is nothing to compare.
pub(crate) fn weigh(
    workload: &str,
    members: &[Member<'_>],
    wording: &Wording,
    options: &Options,
) -> Option<Admission> {
    let mut met = BTreeSet::new();
    let names: Vec<&str> = members
        .iter()
        .map(|member| member.configuration)
        .filter(|name| met.insert(*name))
        .collect();
    let first = members.first()?;
    if names.len() < 2 {
        return None;
    }
    let common = common_signs(workload, members, &names, wording, options);
    let measured = common.points(Question::Measurements);
    let mut said = vec![format!(
        "measurements: {measured} of {MEASUREMENTS_BAR} points ({})",
        common.words(Question::Measurements)
    )];
    let is_measured = measured >= MEASUREMENTS_BAR || said_by_user(&names, options);
    let compared = Compared::of(&names, members);
    let Weighed {
        mut admitted,
        mut refused,
        mut strange,
        names_known,
        signs,
        best,
    } = weigh_names(&compared, &common, wording, options, &mut said);
    // The names along one side of a table are all of one kind.
    let by_table = matches!(first.named_by, NamedBy::Columns | NamedBy::Rows);
    if by_table && 2 * admitted.len() >= names.len() {
        refused.retain(|name| !strange.contains(name));
        admitted.append(&mut strange);
    }
    let named = admitted.len() >= 2 && (!by_table || 2 * admitted.len() >= names.len());
    if !named || !is_measured {
        refused.append(&mut admitted);
    }
    let missing =
        (!refused.is_empty()).then(|| missing(&names, &refused, named, measured, &best, first));
    Some(Admission {
        workload: workload.to_string(),
        place: first.place,
        refused,
        names_known,
        signs,
        said,
        missing,
    })
}

/// What became of the names of a workload's configurations.
struct Weighed {
    admitted: BTreeSet<String>,
    refused: BTreeSet<String>,
    /// Those refused for nothing but that they sound like a test or a metric.
    strange: BTreeSet<String>,
    /// Whether a name is known for that of a configuration.
    names_known: bool,
    /// The signs of all names.
    signs: Signs,
    /// The most points of a name, and the signs that gave them.
    best: (i32, String),
}

/// Weighs each name, and says how.
fn weigh_names(
    compared: &Compared<'_>,
    common: &Signs,
    wording: &Wording,
    options: &Options,
    said: &mut Vec<String>,
) -> Weighed {
    const SOUND: [Sign; 2] = [Sign::WorkloadName, Sign::NamedLikeMetric];
    const KNOWN: [Sign; 4] = [
        Sign::OppositeNames,
        Sign::BaselineName,
        Sign::Versions,
        Sign::Switched,
    ];
    let mut weighed = Weighed {
        admitted: BTreeSet::new(),
        refused: BTreeSet::new(),
        strange: BTreeSet::new(),
        names_known: false,
        signs: Signs::default(),
        best: (i32::MIN, String::new()),
    };
    for (at, name) in compared.texts.iter().enumerate() {
        let signs = name_signs(at, compared, common, wording, options);
        let points = signs.points(Question::Configurations);
        weighed.signs.join(&signs);
        let words = signs.words(Question::Configurations);
        said.push(format!(
            "configuration {name}: {points} of {CONFIGURATIONS_BAR} points ({words})"
        ));
        weighed.names_known |= KNOWN.iter().any(|sign| signs.contains(*sign));
        if signs.fails_by(CONFIGURATIONS_BAR, &SOUND) {
            weighed.strange.insert((*name).to_string());
        }
        let into = match points >= CONFIGURATIONS_BAR {
            true => &mut weighed.admitted,
            false => &mut weighed.refused,
        };
        into.insert((*name).to_string());
        if points > weighed.best.0 {
            weighed.best = (points, words);
        }
    }
    weighed
}

/// Whether the user has given a name.
fn is_given(name: &str, options: &Options) -> bool {
    let mut given = options.configurations.iter();
    given.any(|(_, given)| given.to_lowercase() == name.to_lowercase())
}

fn said_by_user(names: &[&str], options: &Options) -> bool {
    names.iter().any(|name| is_given(name, options))
        || options.transpose
        || options.columns_are.is_some()
        || options.rows_are.is_some()
}

/// Whether figures stand in a form that no single tool has.
fn is_of_any_tool(member: &Member<'_>) -> bool {
    has_form_of_any_tool(member.format)
}

fn common_signs(
    workload: &str,
    members: &[Member<'_>],
    names: &[&str],
    wording: &Wording,
    options: &Options,
) -> Signs {
    let mut signs = Signs::default();
    let figures = || members.iter().flat_map(|member| member.figures.iter());
    signs.note_if(!members.iter().any(is_of_any_tool), Sign::KnownOutput);
    for member in members {
        for sign in member.signs {
            signs.note(*sign);
        }
    }
    signs.note_if(figures().any(|figure| has_unit(figure)), Sign::Unit);
    let metric = figures().any(|figure| {
        // A rate says what is measured by its unit.
        words::names_measurement(&figure.metric) || figure.unit.contains("/s")
    });
    let headings = || members.iter().flat_map(|m| m.headings).flatten();
    let near = || headings().chain([workload]);
    signs.note_if(
        metric || near().any(words::names_measurement),
        Sign::MetricName,
    );
    let commands = members.iter().filter_map(|member| member.command);
    let tool = near()
        .chain(commands)
        .chain(figures().map(|figure| figure.metric.as_str()))
        .any(|text| crate::group::names::workload_score(text) > 0);
    signs.note_if(tool, Sign::ToolNamed);
    signs.note_if(wording.measures, Sign::TextMeasures);
    let fractions = figures().any(|figure| figure.value.fract() != 0.0);
    signs.note_if(fractions, Sign::Fractions);
    let bare = !signs.contains(Sign::ChangesAgree)
        && figures().all(|f| f.unit.is_empty() && !has_unit(f) && f.value.fract() == 0.0)
        && !figures().any(|figure| is_rate(&figure.metric));
    signs.note_if(bare, Sign::BareIntegers);
    let spread = members.iter().any(|member| member.has_spread);
    signs.note_if(spread, Sign::SpreadGiven);
    let comparing = |m: &Member<'_>| m.named_by.is_comparing_tool(m.format);
    signs.note_if(members.iter().all(comparing), Sign::ComparingFormat);
    if members.iter().all(is_headed) && shared_metric(members, names) {
        let table = members.iter().any(is_of_any_tool);
        signs.note(if table {
            Sign::SameTableUnderEach
        } else {
            Sign::SameUnderEach
        });
    }
    note_comparing(&mut signs, members, names, wording, options);
    signs
}

/// Whether a heading names it, and what stands below speaks for that heading. Which symbols
/// take the time does not.
fn is_headed(member: &Member<'_>) -> bool {
    member.named_by == NamedBy::Heading && member.format != PROFILE
}

/// Whether nothing was counted, or it is only said whether something is so.
fn only_flags(members: &[Member<'_>]) -> bool {
    let flag =
        |figure: &&Figure| figure.value == 0.0 || figure.value == 1.0 && figure.unit.is_empty();
    let mut figures = members.iter().flat_map(|member| &member.figures).peekable();
    figures.peek().is_some() && figures.all(flag)
}

/// Whether all figures are seconds since 1970, to a fraction, of what is called a time.
fn are_times_of_day(members: &[Member<'_>]) -> bool {
    const YEARS_2001_TO_2039: std::ops::Range<f64> = 1.0e9..2.2e9;
    let of_day = |figure: &&Figure| {
        let name = figure.metric.to_ascii_lowercase();
        let called = ["time", "date", "stamp", "clock"];
        YEARS_2001_TO_2039.contains(&figure.value)
            && figure.value.fract() != 0.0
            && called.iter().any(|word| name.contains(word))
    };
    let mut figures = members.iter().flat_map(|member| &member.figures).peekable();
    figures.peek().is_some() && figures.all(of_day)
}

/// Whether a metric has one figure under one name and several under another: what was done
/// once more stands below a line that says what else was changed, `(after the first
/// command)`. `perf stat` says itself what was run.
fn one_beside_several(members: &[Member<'_>]) -> bool {
    if members.iter().any(|member| member.format == PERF_STAT) {
        return false;
    }
    let mut runs: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for member in members {
        for figure in &member.figures {
            let of_metric = runs.entry(&figure.metric).or_default();
            *of_metric.entry(member.configuration).or_default() += 1;
        }
    }
    runs.values().any(|of_metric| {
        let counts = || of_metric.values();
        counts().any(|runs| *runs == 1) && counts().any(|runs| *runs > 1)
    })
}

/// Whether lists that stand alone have a figure of one name several times under one
/// configuration, in other units: of what else each is, stands in lines that nobody reads.
fn lists_come_again(members: &[Member<'_>]) -> bool {
    let mut met: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let lists = members.iter().filter(|member| member.format == LONE);
    let mut figures = lists.flat_map(|member| {
        let figures = member.figures.iter();
        figures.map(|figure| ((member.configuration, figure.metric.as_str()), figure))
    });
    figures.any(|(name, figure)| {
        let unit = met.entry(name).or_insert(&figure.unit);
        *unit != figure.unit
    })
}

/// So many figures are not the same by chance, if one has so many digits.
const SAME: (usize, usize) = (3, 3);

/// Whether each figure is the same under all names, to the last digit: the same run,
/// printed again in another form.
fn same_figures(members: &[Member<'_>], names: &[&str]) -> bool {
    let mut metrics: BTreeMap<&str, (f64, BTreeSet<&str>)> = BTreeMap::new();
    // Sizes are no measurements that scatter.
    if members.iter().all(|member| member.format == "size") {
        return false;
    }
    for member in members {
        for figure in &member.figures {
            let (value, under) = metrics
                .entry(&figure.metric)
                .or_insert((figure.value, BTreeSet::new()));
            if *value != figure.value {
                return false;
            }
            under.insert(member.configuration);
        }
    }
    let digits = |value: f64| {
        let digits = value.to_string();
        digits.bytes().filter(u8::is_ascii_digit).count()
    };
    let shared = || {
        metrics
            .values()
            .filter(|(_, under)| under.len() == names.len())
    };
    shared().count() >= SAME.0 && shared().any(|(value, _)| digits(*value) >= SAME.1)
}

/// Notes what all names have in common that speaks for or against comparing them.
fn note_comparing(
    signs: &mut Signs,
    members: &[Member<'_>],
    names: &[&str],
    wording: &Wording,
    options: &Options,
) {
    signs.note_if(only_flags(members), Sign::Zeros);
    signs.note_if(are_times_of_day(members), Sign::TimesOfDay);
    signs.note_if(one_beside_several(members), Sign::OneBesideSeveral);
    signs.note_if(lists_come_again(members), Sign::Pooled);
    let comparing = signs.contains(Sign::ComparingFormat);
    let printed = !comparing && signs.contains(Sign::KnownOutput);
    signs.note_if(printed && same_figures(members, names), Sign::SameFigures);
    signs.note_if(printed && wording.about_output, Sign::AboutOutput);
    signs.note_if(!comparing && wording.about_ratings, Sign::Ratings);
    signs.note_if(wording.compares, Sign::TextCompares);
    let compared = names.iter().any(|name| wording.compares_with(name));
    signs.note_if(compared, Sign::ComparedInText);
    let stands: BTreeSet<(u32, u8)> = members.iter().map(|member| member.stand).collect();
    signs.note_if(stands.len() > 1, Sign::SeveralPlaces);
    signs.note_if(contrast::has_opposites(names), Sign::BeforeAndAfter);
    let own = signs.contains(Sign::ComparingFormat);
    signs.note_if(
        !own && (contrast::of_several_workloads(names)
            || contrast::of_several_devices(names)
            || super::amounts::differ_in_amounts(names)),
        Sign::Parameters,
    );
    let changes = members
        .iter()
        .flat_map(|m| m.signs)
        .any(|s| matches!(s, Sign::ChangeColumn | Sign::ChangesAgree));
    signs.note_if(changes, Sign::ChangesGiven);
    let by_table = |m: &Member<'_>| matches!(m.named_by, NamedBy::Columns | NamedBy::Rows);
    let by_role = options.transpose || options.columns_are.is_some() || options.rows_are.is_some();
    signs.note_if(by_role && members.iter().any(by_table), Sign::SaidByUser);
}

/// Whether one metric was measured under each name.
fn shared_metric(members: &[Member<'_>], names: &[&str]) -> bool {
    let mut under: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for member in members {
        for figure in &member.figures {
            under
                .entry(&figure.metric)
                .or_default()
                .insert(member.configuration);
        }
    }
    under.values().any(|these| these.len() == names.len())
}

fn name_signs(
    at: usize,
    names: &Compared<'_>,
    common: &Signs,
    wording: &Wording,
    options: &Options,
) -> Signs {
    let mut signs = common.clone();
    let name = names.texts[at];
    let label = names
        .members(at)
        .first()
        .map_or(name, |member| member.label);
    let given = is_given(name, options);
    signs.note_if(given, Sign::SaidByUser);
    let beside = names.texts.iter().any(|other| is_given(other, options));
    signs.note_if(beside && !given, Sign::BesideOneNamed);
    // Counts of two things may be called alike but for a word.
    let counts = common.contains(Sign::BareIntegers) && !common.contains(Sign::KnownOutput);
    let alike = |sign: &Sign| *sign == Sign::ParallelNames;
    let best = names.best(at);
    if let Some(sign) = best.filter(|sign| !(counts && alike(sign))) {
        signs.note(sign);
    }
    // `on` and `off` say enough of each other, and a tool compares commands.
    let opposed = best == Some(Sign::OppositeNames);
    let compared = common.contains(Sign::ComparingFormat);
    let excused = |sign: &Sign| match sign {
        Sign::EmptyName => opposed,
        Sign::CodeName => compared || common.contains(Sign::SameUnderEach) && says_with(label),
        // Above what a tool prints a sentence says what was measured.
        Sign::LongName => {
            common.contains(Sign::SameUnderEach) && label.split_whitespace().count() <= 24
        }
        _ => false,
    };
    if let Some(sign) = alone::no_name(name).filter(|sign| !excused(sign)) {
        signs.note(sign);
    }
    signs.note_if(name == crate::UNNAMED, Sign::EmptyName);
    signs.note_if(!opposed && alone::is_setting_name(name), Sign::SettingName);
    signs.note_if(
        other_scale(at, names) || other_unit(at, names),
        Sign::OtherScale,
    );
    signs.note_if(
        wording.mentions(name) || wording.mentions(label),
        Sign::NamedInText,
    );
    signs.note_if(best.is_none() && alone::is_told(name), Sign::LongName);
    let is_configuration = words::names_configuration(name);
    let workload = crate::group::names::workload_score(name) > 0;
    // Nor is what changes are given to a test.
    let changed = common.contains(Sign::ChangesAgree);
    let doubtful = !is_configuration && !compared && !opposed && !changed;
    signs.note_if(workload && doubtful, Sign::WorkloadName);
    let metric = words::names_metric(name);
    signs.note_if(metric && doubtful, Sign::NamedLikeMetric);
    signs
}

/// `With map[*T]struct{}`: what it was measured with may be called by its code.
fn says_with(label: &str) -> bool {
    let first = label.split_whitespace().next().unwrap_or_default();
    ["with", "without", "using"].contains(&first.to_lowercase().as_str())
}

/// What is missing, and what would supply it.
fn missing(
    names: &[&str],
    refused: &BTreeSet<String>,
    named: bool,
    measured: i32,
    best: &(i32, String),
    first: &Member<'_>,
) -> String {
    let some: Vec<&str> = refused.iter().take(3).map(String::as_str).collect();
    let more = if refused.len() > some.len() {
        " and others"
    } else {
        ""
    };
    let why = if named && refused.len() == names.len() {
        format!(
            "nothing says that the figures are measurements ({measured} of {MEASUREMENTS_BAR} points)"
        )
    } else if named {
        "these names are not known to be configurations".to_string()
    } else {
        format!(
            "nothing says that these are configurations (at best {} of {CONFIGURATIONS_BAR} points: {})",
            best.0.max(0),
            best.1
        )
    };
    let option = match first.named_by {
        NamedBy::Columns | NamedBy::Rows => "--columns-are or --rows-are says what they are",
        _ => "--configuration 'REGEX=NAME' names them",
    };
    format!(
        "read, not judged: {}{more}: {why}; {option}",
        some.join(", ")
    )
}
