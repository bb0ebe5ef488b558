import { totalmem } from 'node:os'

/** Sets runtime options that apply only at process start. A program that will run for long restarts itself in place
 *  with them: the same process, arguments and descriptors, 10 ms later. Values that the user set have precedence.
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
    BUN_JSC_forceRAMSize: String(Math.min(HEAP_MEMORY_BYTES, totalmem())),
  }
}

/** Before the last compiler tier (FTL) takes a function, in the runtime's own count of calls and rounds of loops; 100,000 by
 *  default. It takes milliseconds for each function, a mail passes many, and the code is much faster only for loops over
 *  characters. Accepting and delivering a mail take 0.87 and 0.89 of the CPU. */
const LAST_TIER_RUNS = 1_000_000
/** The heap grows by the memory that the machine is said to have. With 24 GB, a program that parses JSON
 *  in a loop peaks at 162 to 185 MB instead of 130. Confined readers, whose memory is limited, get it too. */
const HEAP_MEMORY_BYTES = 512 * 2 ** 20
