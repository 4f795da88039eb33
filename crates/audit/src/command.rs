//! Command lines in a post: where they stand and what they execute.

/// Programs whose name at the beginning of a line makes it a command line even without a prompt.
#[rustfmt::skip]
const TOOLS: &[&str] = &[
    "perf", "cyclictest", "hackbench", "rtla", "schbench", "hyperfine", "turbostat", "stress-ng", "rt-app", "fio",
    "iperf3", "iperf", "netperf", "sysbench", "glxgears", "powertop", "taskset", "chrt", "numactl", "nice",
    "timeout", "vkcube", "glmark2", "glmark2-es2", "kcbench", "tbench", "dbench", "ebizzy", "lmbench", "trace-cmd",
    "bpftrace", "osnoise", "stress", "cpupower", "benchstat", "make", "mpg123", "memcached", "redis-benchmark", "pgbench",
];

/// Programs that only change how the rest of the line is executed.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "sudo", "time", "timeout", "taskset", "chrt", "nice", "numactl", "env", "exec", "nohup",
    "stdbuf", "ionice", "schedtool", "systemd-run", "cgexec", "setarch", "strace", "doas",
];

/// Whether a word is the name of a program that people measure with.
pub(crate) fn is_tool(word: &str) -> bool {
    TOOLS.contains(&word)
}

/// The command line that `text` shows, without prompt, if it shows one.
pub(crate) fn find(text: &str) -> Option<&str> {
    let text = text.trim();
    if text.len() < 3 || text.len() > 2000 || text.ends_with('.') {
        return None;
    }
    // The columns of `perf stat -I`, and no prompt; what the `time` of zsh prints.
    let columns = text.starts_with('#') && text.ends_with("counts unit events");
    if columns || text.ends_with(" total") && text.contains("% cpu ") {
        return None;
    }
    if may_have_prompt(text.as_bytes())
        && let Some(command) = after_prompt(text)
    {
        return Some(command);
    }
    let bare = text.trim_start_matches(['-', '*', ' ', '+', '>']);
    let bare = named(bare).unwrap_or(bare);
    let word = &bare[..memchr::memchr(b' ', bare.as_bytes()).unwrap_or(bare.len())];
    // Neither a comment, `/* packed */`, nor a filter of bpftrace, `/@start[tid]/`, nor what
    // stands for a device or a setting.
    let rooted = |path: &str| {
        let mut files = ["dev/", "proc/", "sys/"].iter();
        !files.any(|root| path.starts_with(root))
            && path.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
    };
    let path = word.starts_with("./") || word.strip_prefix('/').is_some_and(rooted);
    let known = TOOLS.contains(&program_name(word));
    if !known && !path {
        return None;
    }
    // A sentence may begin with the name of a tool; a command goes on with an option or a path.
    let mut words = bare.split_whitespace().skip(1);
    let option = words.any(|word| word.starts_with('-') && word.len() > 1);
    let short = || bare.split_whitespace().count() <= 12 && !bare.contains(": ");
    (known && (option || path) || path && short()).then_some(bare)
}

/// Returns the text after `cmdline:` or `Command:`.
fn named(text: &str) -> Option<&str> {
    let (name, rest) = text.split_at_checked(memchr::memchr(b':', text.as_bytes())?)?;
    let names = ["cmd", "cmdline", "command", "command line"];
    let fits = names.iter().any(|known| name.eq_ignore_ascii_case(known));
    fits.then(|| rest[1..].trim_start())
}

/// Whether it is worth looking for a prompt: this runs on every line.
fn may_have_prompt(text: &[u8]) -> bool {
    let head = &text[..text.len().min(80)];
    matches!(
        head.first(),
        Some(b'$' | b'%' | b'#' | b'[' | b'~' | b'/' | b'(' | b'j')
    ) || memchr::memchr(b'@', head).is_some()
        || memchr::memchr3(b'$', b'#', b'%', head).is_some()
}

fn program_name(word: &str) -> &str {
    &word[memchr::memrchr(b'/', word.as_bytes()).map_or(0, |at| at + 1)..]
}

/// Returns the text after a prompt: `user@host:dir#`, `[user@host dir]$`, `$` or `#`.
fn after_prompt(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("julia> ") {
        return Some(rest.trim());
    }
    if let Some(rest) = text.strip_prefix("$ ").or_else(|| text.strip_prefix("% ")) {
        return command_like(rest);
    }
    if let Some(rest) = text.strip_prefix("# ") {
        let first = program_name(rest.split_whitespace().next()?);
        let known = TOOLS.contains(&first) || WRAPPERS.contains(&first) || rest.starts_with("./");
        return known.then_some(rest.trim());
    }
    let end = text.char_indices().take(80).find(|&(at, c)| {
        matches!(c, '#' | '$' | '%' | '>') && at > 0 && text[at + 1..].starts_with(' ')
    })?;
    let (prompt, rest) = (&text[..end.0], text[end.0 + 1..].trim());
    let host =
        prompt.contains('@') && prompt.split_whitespace().count() <= 3 && !prompt.contains('<');
    let bracket = prompt.starts_with('[') && prompt.trim_end().ends_with(']');
    // `(container)$ time ls`: where it was typed.
    let place = prompt.starts_with('(') && prompt.ends_with(')') && !prompt.contains(' ');
    (host || bracket || place || prompt.ends_with(['~', '/']))
        .then(|| command_like(rest))
        .flatten()
}

fn command_like(rest: &str) -> Option<&str> {
    let first = rest.trim_start().as_bytes().first()?;
    (first.is_ascii_alphabetic() || matches!(first, b'.' | b'/' | b'_')).then_some(rest.trim())
}

/// Whether a mailer cut a command line before the program under test.
pub(crate) fn wants_more(command: &str) -> bool {
    command.ends_with('\\') || (is_perf_stat(command) && under_test(command).is_none())
}

fn is_perf_stat(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.any(|w| program_name(w) == "perf") && words.next() == Some("stat")
}

/// Programs that only show or change settings. After `time` and the like they count as measured.
const PREPARATIONS: &[&str] = &[
    "cat", "cd", "echo", "export", "insmod", "ls", "lsblk", "lscpu", "modprobe", "mount", "rmmod",
    "sysctl", "umount", "uname",
];

/// Whether a command only shows or changes settings, so that figures below it are not its output.
pub(crate) fn prepares(command: &str) -> bool {
    let words = command.trim_start_matches("sudo ").split_whitespace();
    let mut words = words.skip_while(|word| is_assignment(word));
    let first = words.next().map(program_name);
    first.is_some_and(|name| PREPARATIONS.contains(&name))
        && !words.any(|word| matches!(word, "|" | "&&" | ";"))
}

/// Returns the program under test with its arguments, without `perf stat` and
/// without wrappers such as `timeout 20s`.
pub(crate) fn under_test(command: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = command
        .trim_matches(|c| c == '\'' || c == '"')
        .split_whitespace()
        .filter(|w| *w != "\\")
        .collect();
    let mut rest: &[&str] = &words;
    loop {
        while rest.first().is_some_and(|w| is_assignment(w)) {
            rest = &rest[1..];
        }
        let name = program_name(rest.first()?);
        if name == "perf" && rest.get(1) == Some(&"stat") {
            rest = skip_options(&rest[2..], PERF_OPERANDS);
        } else if WRAPPERS.contains(&name) {
            let by_list = rest.get(1).is_some_and(|w| w.starts_with("-c"));
            rest = skip_options(&rest[1..], WRAPPER_OPERANDS);
            let number = rest
                .first()
                .is_some_and(|w| w.bytes().all(|b| b.is_ascii_digit()));
            let operand = match name {
                "timeout" | "setarch" => true,
                "taskset" => !by_list,
                "chrt" => number,
                _ => false,
            };
            rest = &rest[usize::from(operand && !rest.is_empty())..];
        } else {
            break;
        }
    }
    let ends = |word: &&&str| matches!(**word, "|" | ">" | "2>&1" | "&&" | ";" | "&" | ">>");
    let words = rest.iter().take_while(|word| !ends(word));
    let words = words.map(|word| word.trim_end_matches(';').to_string());
    let mut program: Vec<String> = words.collect();
    let first = program.first_mut()?;
    *first = program_name(first).to_string();
    Some(program)
}

/// `THREADS=4` before a program.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        let part = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let environment = !name.bytes().any(|b| b.is_ascii_lowercase());
        !name.is_empty() && name.bytes().all(part) && (environment || !value.contains('/'))
    })
}

/// Options of `perf stat` that take an operand of their own.
#[rustfmt::skip]
const PERF_OPERANDS: &[&str] = &[
    "-e", "--event", "-r", "--repeat", "-C", "--cpu", "-p", "--pid", "-t",
    "--tid", "-I", "--interval-print", "-x", "--field-separator", "-o", "--output", "-G", "--cgroup",
    "-D", "--delay", "--filter", "-M", "--metrics", "--timeout", "--interval-count", "--pre", "--post",
    "--log-fd", "--for-each-cgroup",
];
const WRAPPER_OPERANDS: &[&str] = &[
    "-n", "-s", "-k", "-u", "-c", "-o", "-f", "-p", "-C", "-N", "-m", "--slice", "-g",
];

fn skip_options<'a, 'b>(mut rest: &'a [&'b str], operands: &[&str]) -> &'a [&'b str] {
    while let Some(word) = rest.first() {
        if *word == "--" {
            return &rest[1..];
        }
        if !word.starts_with('-') {
            break;
        }
        let two = operands.contains(word) && rest.len() > 1;
        rest = &rest[1 + usize::from(two)..];
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_or_sets_something_is_not_measured() {
        for command in "cat test.sh|sudo mount /dev/sda /mnt|LANG=C /bin/uname -a".split('|') {
            assert!(prepares(command), "{command}");
        }
        for command in ["fio job", "time cat file", "cat file | wc -l", "catalog"] {
            assert!(!prepares(command), "{command}");
        }
    }

    #[test]
    fn prompts_of_many_styles_are_seen() {
        for (line, command) in [
            ("root@box:dir# ./perf stat -a true", "./perf stat -a true"),
            ("[me@box linux]$ hackbench -g 10", "hackbench -g 10"),
            ("$ make -j8", "make -j8"),
            ("me@box ~/linux > make -j8", "make -j8"),
            ("julia> @time f(1)", "@time f(1)"),
            ("# cyclictest --smp", "cyclictest --smp"),
            ("cmdline: ./map_test -v 20", "./map_test -v 20"),
            ("- schbench -t 3 -m 3", "schbench -t 3 -m 3"),
            ("/usr/bin/fio job", "/usr/bin/fio job"),
        ] {
            assert_eq!(find(line), Some(command));
        }
        let prose = "fresh-1 # of them|# tracer: hwlat|perf is a good tool|100% 76% 1%|\
                     It cost 5$ a day|A <me@box> wrote|#  comment here|Command: it is slow|/dev/pmem0:|\
                     /* a hole of 4 bytes */|/@start[tid]/";
        for line in prose.split('|') {
            assert_eq!(find(line), None, "{line}");
        }
    }

    #[test]
    fn wrappers_are_not_the_program_under_test() {
        #[rustfmt::skip]
        let cases = [
            ("./perf stat -a -e cycles,power/energy-pkg/ timeout 20s glxgears", "glxgears"),
            ("perf stat -r 10 -- taskset -c 3 ./a.out 5", "a.out 5"),
            ("sudo chrt -f 50 /usr/bin/cyclictest -m > log", "cyclictest -m"),
            ("FOO=1 nice -n -5 bench --x", "bench --x"),
        ];
        for (command, program) in cases {
            assert_eq!(under_test(command).unwrap_or_default().join(" "), program);
        }
        assert!(wants_more("perf stat -a -e cycles") && !wants_more("perf stat -a true"));
    }
}
