import { totalmem } from 'node:os'

/** Sets runtime options that apply only at process start. A program that will run for long restarts itself in place
 *  with them: the same process, arguments and descriptors, 10 ms later. Values that the user set have precedence.
 *
 *  The runtime's last compiler tier (FTL) takes milliseconds for each function: by default an eighth of all CPU during
 *  the first ten thousand mails, because a mail passes many functions. Its code is much faster only for loops over the
 *  characters of a mail, so a function must run longer before it gets there. The heap grows by the memory size that the machine is said to have: with 24 GB it keeps a
 *  quarter more resident under load than it needs, for the same work. The allocator returns unused parts of pages whenever
 *  a thread waits, at most every 100 ms, and a thread that wakes waits until that stops: twice a mail, a page that soon is
 *  in use again.
 *
 *  Call it before anything is opened. It returns if there is nothing to do, for example when run from source, and if
 *  the restart fails. */
export function withRuntimeSettings(): void {
  const { env, execPath, argv, argv0 } = process
  const isBuilt = process.env.POSTRIDER_GIT_SHA !== undefined
  const settings = runtimeSettings()
  if (!isBuilt || Object.keys(settings).every((name) => env[name] !== undefined)) return
  try {
    process.execve?.(execPath, [argv0, ...argv.slice(2)], { ...settings, ...env })
  } catch {
    // more expensive, and otherwise equal
  }
}

/** The same settings as environment variables for a child. */
export function runtimeSettings() {
  return {
    BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: String(LAST_TIER_RUNS),
    BUN_JSC_smallHeapGrowthFactor: String(HEAP_GROWTH),
    BUN_JSC_forceRAMSize: String(Math.min(HEAP_MEMORY_BYTES, totalmem())),
    MIMALLOC_PURGE_HOLES_MIN_INTERVAL: String(RETURN_PARTS_MS),
  }
}

/** In the runtime's own count of calls and rounds of loops; 100,000 by default. */
const LAST_TIER_RUNS = 1_000_000
/** Between two collections; 2 by default, which takes 11 MB more under load and 1 to 2 % less CPU. */
const HEAP_GROWTH = 1.9
const HEAP_MEMORY_BYTES = 512 * 2 ** 20
/** Between two sweeps of a thread's memory. At one second most of the gain is lost; ten seconds gain no more. */
const RETURN_PARTS_MS = 5_000
