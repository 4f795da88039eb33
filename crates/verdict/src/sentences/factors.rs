//! Sentences about interactions that make a main effect misleading.

use crate::cells::Cells;
use crate::document::{Document, Effect, Factorial, Sentence, Verdict};
use crate::lints::UninformativeRows;
use crate::words::{p_value, three, with_interval};

/// An interaction, with the main effect that it reverses.
struct ReversedEffect<'d> {
    fit: &'d Factorial,
    interaction: &'d Effect,
    /// The factor whose effect changes its direction, and its main effect.
    factor: &'d str,
    main: f64,
    /// The factor that the direction depends on.
    other: &'d str,
    p: f64,
}

/// The interaction with the smallest p under which a factor's effect changes
/// direction.
///
/// Only interactions that are established or supported count.
pub(super) fn find(
    document: &Document,
    cells: &Cells<'_>,
    faults: &UninformativeRows,
) -> Option<Sentence> {
    let fits = document.factorial.iter().filter(|fit| {
        let workload = cells.workload(&fit.workload);
        let metric = cells
            .metrics
            .iter()
            .position(|m| m.name == fit.metric && m.unit == fit.unit);
        workload
            .zip(metric)
            .is_some_and(|(w, m)| !faults.says_nothing(w, m))
    });
    fits.flat_map(|fit| fit.effects.iter().map(move |effect| (fit, effect)))
        .filter(|(_, effect)| effect.name.contains(':'))
        .filter(|(_, effect)| matches!(effect.verdict, Verdict::Established | Verdict::Supported))
        .filter_map(|(fit, effect)| overturned(fit, effect, effect.p_adjusted?))
        .min_by(|a, b| a.p.total_cmp(&b.p))
        .map(|found| sentence(&found))
}

/// The factor whose effect has opposite directions without and with the other
/// factor; if that holds for both, the one with the larger main effect.
fn overturned<'d>(
    fit: &'d Factorial,
    interaction: &'d Effect,
    p: f64,
) -> Option<ReversedEffect<'d>> {
    let main = |name: &str| fit.effects.iter().find(|e| e.name == name);
    let cuts = interaction.name.match_indices(':');
    let (a, b) = cuts
        .map(|(at, _)| (&interaction.name[..at], &interaction.name[at + 1..]))
        .find(|&(a, b)| main(a).is_some() && main(b).is_some())?;
    let half = 0.5 * interaction.ratio.ln().abs();
    [(a, b), (b, a)]
        .into_iter()
        .filter_map(|(factor, other)| {
            let ratio = main(factor)?.ratio;
            (ratio.ln().abs() < half).then_some(ReversedEffect {
                fit,
                interaction,
                factor,
                main: ratio,
                other,
                p,
            })
        })
        .max_by(|x, y| x.main.ln().abs().total_cmp(&y.main.ln().abs()))
}

fn sentence(found: &ReversedEffect<'_>) -> Sentence {
    let half = found.interaction.ratio.sqrt();
    let text = format!(
        "The effect of {} on {} on {} depends on {}: {} without it, {} with it \
         (interaction {}, corrected p {}{}).",
        found.factor,
        found.fit.metric,
        found.fit.workload,
        found.other,
        three(found.main / half),
        three(found.main * half),
        with_interval(found.interaction.ratio, found.interaction.ci),
        p_value(found.p),
        match found.interaction.verdict {
            Verdict::Established => "",
            _ => ", supported, not established",
        }
    );
    Sentence {
        text,
        rows: vec![format!(
            "{} {} {}",
            found.fit.workload, found.fit.metric, found.interaction.name
        )],
    }
}
