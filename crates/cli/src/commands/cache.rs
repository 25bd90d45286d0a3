//! `quarry cache`: what was built earlier, and how much room it takes.

use cache::{Cache, KindStats};
use runner::error::Error;

use crate::arguments::{CacheAct, CacheArguments};
use crate::exit::{Exit, Failure};
use crate::say::say;

/// Runs the command.
pub fn cache(act: CacheAct, arguments: CacheArguments) -> Result<Exit, Failure> {
    let cache = of_user(arguments)?;
    match act {
        CacheAct::Stats => stats(&cache),
        CacheAct::Clean => clean(&cache),
    }
    Ok(Exit::Done)
}

/// The cache that commands build with.
pub fn chosen(arguments: CacheArguments) -> Result<Cache, Failure> {
    if arguments.no_cache { Ok(Cache::temporary().map_err(Error::from)?) } else { of_user(arguments) }
}

fn of_user(arguments: CacheArguments) -> Result<Cache, Failure> {
    Ok(Cache::of_user(arguments.cache_size).map_err(Error::from)?)
}

fn stats(cache: &Cache) {
    let stats = cache.stats();
    say(format_args!("{}", stats.directory.display()));
    for (kind, KindStats { n_entries, bytes }) in &stats.kinds {
        say(format_args!("    {kind:<12} {n_entries:>8}  {:>10}", size(*bytes)));
    }
    let KindStats { n_entries, bytes } = stats.total();
    say(format_args!("    {:<12} {n_entries:>8}  {:>10} of {}", "total", size(bytes), size(stats.limit)));
}

fn clean(cache: &Cache) {
    let cleaned = cache.clean();
    let KindStats { n_entries, bytes } = cleaned.removed;
    say(format_args!("removed {} ({})", entries(n_entries), size(bytes)));
    if cleaned.left.n_entries > 0 {
        let KindStats { n_entries, bytes } = cleaned.left;
        say(format_args!("left {} ({}) that other processes use", entries(n_entries), size(bytes)));
    }
}

fn entries(n_entries: u64) -> String {
    match n_entries {
        1 => "1 entry".to_owned(),
        n => format!("{n} entries"),
    }
}

/// Bytes in the largest unit that leaves a number of at least 1.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let power = (bytes.ilog2() / 10).min(4);
    let number = bytes as f64 / (1_u64 << (10 * power)) as f64;
    format!("{number:.1} {}", UNITS[power as usize - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 1023, 1024, 1536 << 10, 2 << 30, 3 << 50].map(size);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "1.5 MiB", "2.0 GiB", "3072.0 TiB"]);
    }
}
