//! `assize try`: shows what each patch of a committed or posted change does.

pub(crate) mod builds;
mod effects;
pub(crate) mod experiment;
pub(crate) mod source;
pub(crate) mod touched;
pub(crate) mod whole;

use assize_report::{Checks, PatchName, PatchOutcome, SERIES, SeriesReport, TriedPatch};
use assize_series::Commit;
use assize_target::kernels::Kernels;

use crate::cli::{QuestionArguments, SandboxArguments, TryArguments, TryFormat};
use crate::failure::Failure;
use crate::run::MeasuredRecords;
use crate::{output, run, shell};
use builds::{CommitBuild, CommitBuilds, ModuleBuild};
use effects::SeriesEffects;
use experiment::BaseExperiment;
pub(crate) use source::read;
use source::{ChangeOptions, SourceChange};
use touched::{BuildScope, TouchedFiles};
use whole::KernelBuild;

/// The default name of a bundle.
const NAME: &str = "try";

/// The sides of a change, and the kernel that they run on.
pub(crate) struct BuiltSides {
    pub(crate) builds: CommitBuilds,
    /// The kernel of all sides, unless each side is a kernel.
    pub(crate) kernel: Option<String>,
    /// A description of that kernel.
    machine: String,
    /// A description of what was built.
    built: String,
}

/// How the sides of a change are built, as the command line says it.
pub(crate) struct BuildOptions<'a> {
    /// The commit or kernel to apply patches to.
    pub(crate) base: Option<&'a str>,
    /// The kernel to run on.
    pub(crate) kernel: Option<&'a str>,
    /// Whether each commit is a side.
    pub(crate) each: bool,
    pub(crate) sandbox: &'a SandboxArguments,
}

/// A change whose sides are built, and the experiment for it.
pub(crate) struct BuiltChange {
    change: SourceChange,
    touched: TouchedFiles,
    pub(crate) base: BaseExperiment,
    pub(crate) sides: BuiltSides,
}

impl BuiltChange {
    /// Builds the sides; `experiment` is for what is built.
    pub(crate) fn new(
        asked: &ChangeOptions<'_>,
        options: &BuildOptions<'_>,
        quiet: bool,
        experiment: impl FnOnce(&BuildScope) -> Result<BaseExperiment, Failure>,
    ) -> Result<BuiltChange, Failure> {
        let say = output::progress(quiet);
        let kernels = Kernels::new(Kernels::default_root()?);
        let change = SourceChange::from_options(asked, &kernels, &say)?;
        let touched = TouchedFiles::of_commits(&change.commits)?;
        let base = experiment(&touched.scope)?;
        let sides = build_sides(options, &change, &touched.scope, &base, &say)?;
        Ok(BuiltChange {
            change,
            touched,
            base,
            sides,
        })
    }

    /// Builds what the command line of `assize try` names.
    pub(crate) fn of_try(arguments: &TryArguments) -> Result<BuiltChange, Failure> {
        let experiment = |scope: &BuildScope| {
            let base = BaseExperiment::named_or_for(arguments.experiment.as_deref(), scope)?;
            base.can_run_on(arguments.farm.on)?;
            Ok(base)
        };
        let options = BuildOptions {
            base: arguments.base.as_deref(),
            kernel: arguments.kernel.as_deref(),
            each: arguments.each,
            sandbox: &arguments.sandbox,
        };
        BuiltChange::new(&arguments.change(), &options, arguments.quiet, experiment)
    }

    /// Whether a side differs from the base.
    pub(crate) fn differs(&self) -> bool {
        self.sides.builds.compared().next().is_some()
    }
}

/// Tries a change.
pub(crate) fn try_change(arguments: &TryArguments) -> Result<u8, Failure> {
    if let Some(directory) = &arguments.out {
        run::must_be_free(directory)?;
    }
    let built = BuiltChange::of_try(arguments)?;
    measure_and_judge(arguments, built)
}

/// Measures a change if a side differs, and shows what it does.
pub(crate) fn measure_and_judge(
    arguments: &TryArguments,
    built: BuiltChange,
) -> Result<u8, Failure> {
    let measured = match built.differs() {
        true => Some(measure(arguments, &built.base, &built.sides)?),
        false => None,
    };
    let whole = !arguments.each;
    let BuiltChange {
        change,
        touched,
        base,
        sides,
    } = built;
    let builds = &sides.builds;
    let mut judged = match &measured {
        Some(measured) => SeriesEffects::judge(measured, builds, &arguments.fail_on)?,
        None => SeriesEffects::of_same(),
    };
    if whole && change.commits.len() > 1 {
        judged.is_of_the_end();
    }
    let ran = measured.as_ref();
    let series = SeriesReport {
        schema: SERIES.into(),
        title: change.title.clone(),
        base: described(&change.base),
        patches: patches(&change, builds, &judged),
        whole: judged.whole.clone(),
        kernel: sides.machine,
        built: sides.built,
        left_out: touched.left_out.clone(),
        experiment: base.title.clone(),
        runs: ran.map_or(0, |ran| ran.runs),
        completed: ran.and_then(MeasuredRecords::completed),
        ended: judged.ended.clone(),
        level: judged.level,
        margin: judged.margin,
        bundle: ran.map(|ran| shell::name_of(&ran.directory)),
        reproduce: shell::repeating_command(),
    };
    deliver_series(&series, &judged, arguments)
}

/// Runs the sides.
fn measure(
    arguments: &TryArguments,
    base: &BaseExperiment,
    sides: &BuiltSides,
) -> Result<MeasuredRecords, Failure> {
    let question = QuestionArguments {
        fail_on: arguments.fail_on.clone(),
        ..QuestionArguments::default()
    };
    run::record_runs(&run::Recording {
        text: &base.with_levels(&sides.builds)?,
        name: NAME,
        out: arguments.out.clone(),
        resume: false,
        kernel: sides.kernel.clone(),
        runs: arguments.runs,
        jobs: arguments.jobs,
        on: arguments.farm.on,
        quiet: arguments.quiet,
        question: &question,
        may_lose: |configuration| configuration != builds::BASE,
        gives_up: false,
        show_output: false,
    })
}

/// Shows the result for a series, and returns the exit status.
fn deliver_series(
    series: &SeriesReport,
    judged: &SeriesEffects,
    arguments: &TryArguments,
) -> Result<u8, Failure> {
    let text = render_series(series, arguments.shown_as())?;
    output::deliver(text.as_bytes(), arguments.output.as_deref())?;
    if let Some(said) = &judged.last_word {
        output::warn(said);
    }
    Ok(u8::from(judged.fails))
}

/// Builds the sides, as modules or as kernels.
fn build_sides(
    options: &BuildOptions<'_>,
    change: &SourceChange,
    scope: &BuildScope,
    base: &BaseExperiment,
    say: &dyn Fn(&str),
) -> Result<BuiltSides, Failure> {
    let kernels = Kernels::new(Kernels::default_root()?);
    let whole = !options.each;
    let sandbox = options.sandbox.choose()?;
    match scope {
        BuildScope::Modules(part) => {
            say(&format!("{} -> {}", part.directory, base.choice));
            let named = source::kernel(options.base, options.kernel)?;
            let kernel = kernels.resolve(named.unwrap_or(&base.kernel))?;
            let builder = ModuleBuild::for_change(change, part, &kernel, sandbox, whole)?;
            Ok(BuiltSides {
                builds: CommitBuilds::build_all(change, &builder, whole, say)?,
                machine: format!("{} {}", kernel.name, kernel.version),
                kernel: Some(kernel.name.clone()),
                built: format!("{} of {}", part.module, part.directory),
            })
        }
        BuildScope::Kernel(file) => {
            say(&format!("{file} -> {}", base.choice));
            whole::no_kernel_named(file, options.kernel)?;
            let builder = KernelBuild::open(change, kernels, sandbox, say)?;
            let builds = CommitBuilds::build_all(change, &builder, whole, say)?;
            Ok(BuiltSides {
                machine: builds.base().map_or_else(String::new, whole::described),
                builds,
                kernel: None,
                built: whole::BUILT.into(),
            })
        }
    }
}

impl TryArguments {
    /// What is tried.
    pub(crate) fn change(&self) -> ChangeOptions<'_> {
        ChangeOptions {
            range: self.range.as_deref(),
            patch: self.patch.as_deref(),
            base: self.base.as_deref(),
        }
    }
}

fn render_series(series: &SeriesReport, format: TryFormat) -> Result<String, Failure> {
    let failed = |error: serde_json::Error| Failure::Show(error.to_string());
    let checks = || Checks::of_series(series);
    Ok(match format {
        TryFormat::Text => assize_report::series_text(series),
        TryFormat::Json => assize_report::series_json(series).map_err(failed)?,
        TryFormat::Junit => assize_report::junit(&checks()),
        TryFormat::Ktap => assize_report::ktap(&checks()),
        TryFormat::Markdown => assize_report::markdown(&checks()),
        TryFormat::Github => assize_report::github(&checks()),
        TryFormat::Gitlab => assize_report::gitlab(&checks()).map_err(failed)?,
    })
}

/// A commit as reports name it.
pub(crate) fn described(commit: &Commit) -> PatchName {
    let written = commit.written.as_ref();
    PatchName {
        commit: commit.id.clone(),
        subject: commit.subject.clone(),
        author: written.map(|who| who.author.clone()),
        date: written.map(|who| who.date.clone()),
    }
}

/// The result for each patch.
fn patches(
    change: &SourceChange,
    builds: &CommitBuilds,
    judged: &SeriesEffects,
) -> Vec<TriedPatch> {
    let tried = |(at, commit): (usize, &Commit)| {
        let side = builds.of_commit(at);
        let outcome = match side {
            None => PatchOutcome::NotTried,
            Some(CommitBuild::NotBuilt(why)) => PatchOutcome::NotBuilt(why.clone()),
            Some(CommitBuild::Same) if judged.ends => PatchOutcome::NotTried,
            Some(CommitBuild::Same) => PatchOutcome::SameBytes,
            Some(CommitBuild::Compared { .. }) => match judged.steps.get(&at) {
                Some(effects) => PatchOutcome::Effects(effects.clone()),
                None => PatchOutcome::NotTried,
            },
        };
        TriedPatch {
            patch: described(commit),
            configuration: match side {
                Some(CommitBuild::Compared { level, .. }) => Some(level.clone()),
                _ => None,
            },
            outcome,
        }
    };
    change.commits.iter().enumerate().map(tried).collect()
}
