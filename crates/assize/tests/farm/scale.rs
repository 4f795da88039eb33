//! Estimates for a larger farm, computed from measurements on this one.

/// Measured costs, in seconds.
#[derive(Debug)]
pub struct MeasuredParts {
    /// CPU time of the controller per job.
    pub submission: f64,
    /// CPU time of a node per job, without the runs.
    pub job: f64,
    /// Duration of the boot for a memory image.
    pub image: f64,
    /// Time for which the bundle is locked to record a run.
    pub record: f64,
    /// CPU time of the verdict per run.
    pub judge: f64,
}

impl MeasuredParts {
    /// The number of cores that runs of `run` seconds can keep busy, and why more do not help: the
    /// controller cannot start more jobs, or the bundle cannot record more runs.
    fn cores_at_most(&self, run: f64, each: f64) -> (f64, &'static str) {
        let per_run = run + self.job / each;
        let [jobs, records] = [self.submission / each, self.record].map(|serial| per_run / serial);
        match jobs < records {
            true => (jobs, "controller"),
            false => (records, "bundle"),
        }
    }

    /// The duration of an experiment on so many cores, in seconds.
    fn takes(&self, cores: f64, runs: f64, each: f64, run: f64) -> f64 {
        let busy = cores.min(self.cores_at_most(run, each).0).min(runs / each);
        self.image + runs * (run + self.job / each) / busy + runs * self.judge
    }

    /// The table of the page, for jobs of `each` runs.
    pub fn table(&self, cores: f64, runs: f64, each: f64) -> String {
        let mut text = String::from(
            "| a run takes | 1 core | 1,000 cores | stops scaling at | because of |\n\
             | --- | --- | --- | --- | --- |\n",
        );
        for run in [0.3, 1.0, 10.0, 60.0] {
            let (most, why) = self.cores_at_most(run, each);
            let [one, all] = [1.0, cores].map(|cores| self.takes(cores, runs, each, run) / 60.0);
            text.push_str(&format!(
                "| {run} s | {one:.0} min | {all:.1} min | {most:.0} cores | {why} |\n"
            ));
        }
        text
    }
}

#[test]
fn a_farm_stops_scaling_where_something_is_done_one_by_one() {
    let parts = MeasuredParts {
        submission: 0.004,
        job: 0.0,
        image: 5.0,
        record: 0.002,
        judge: 0.0,
    };
    assert_eq!(parts.cores_at_most(1.0, 1.0), (250.0, "controller"));
    assert_eq!(parts.takes(100.0, 1000.0, 1.0, 1.0), 15.0);
    assert_eq!(parts.takes(1000.0, 1000.0, 1.0, 1.0), 9.0);
    assert_eq!(parts.takes(1000.0, 10.0, 1.0, 1.0), 6.0, "one wave");
    assert_eq!(parts.cores_at_most(1.0, 10.0), (500.0, "bundle"));
    let jobs_of_ten = parts.takes(1000.0, 1000.0, 10.0, 1.0);
    assert_eq!(jobs_of_ten, 15.0, "one wave");
    let slow_disk = MeasuredParts {
        record: 0.01,
        ..parts
    };
    assert_eq!(slow_disk.cores_at_most(10.0, 1.0), (1000.0, "bundle"));
}
