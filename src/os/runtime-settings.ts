import { totalmem } from 'node:os'

/** What the runtime takes only before it starts. A program that is to run on begins once more with it, in place: the same
 *  process with the same arguments and descriptors, ten milliseconds later. What somebody has set himself stands.
 *
 *  The last of the four compilers (FTL) takes milliseconds for each of the many functions that a mail passes, an eighth of
 *  all CPU up to the first ten thousand mails and some of it ever after, for code that is no faster here than what the third
 *  has made. And the heaps grow by what memory the machine is said to have: believing in 24 GB, they keep a quarter more
 *  resident under load than they need, for no less work.
 *
 *  To be called before anything is opened; returns when there is nothing to do, as from source. Where the program cannot
 *  begin anew it goes on as it is. */
export function withRuntimeSettings(): void {
  const { env, execPath, argv, argv0 } = process
  const isBuilt = process.env.POSTRIDER_GIT_SHA !== undefined
  const settings = runtimeSettings()
  if (!isBuilt || Object.keys(settings).every((name) => env[name] !== undefined)) return
  try {
    process.execve?.(execPath, [argv0, ...argv.slice(2)], { ...settings, ...env })
  } catch {
    // dearer, and else the same
  }
}

/** The same for a child: what must stand in its environment. */
export function runtimeSettings() {
  return { BUN_JSC_useFTLJIT: '0', BUN_JSC_forceRAMSize: String(Math.min(HEAP_MEMORY_BYTES, totalmem())) }
}

const HEAP_MEMORY_BYTES = 512 * 2 ** 20
