/** The runtime has four compilers. The last one (FTL) takes milliseconds for each of the many functions that a mail passes,
 *  an eighth of all CPU up to the first ten thousand mails and some of it ever after, for code that is no faster here than
 *  what the third has made; and it can only be switched off before the runtime starts. So a program that is to run on begins
 *  once more, in place: the same process with the same arguments and descriptors, ten milliseconds later.
 *
 *  To be called before anything is opened; returns when there is nothing to do, as from source, or when somebody has set the
 *  switch himself. Where the program cannot begin anew it goes on as it is. */
export function withoutLastCompiler(): void {
  const { env, execPath, argv, argv0 } = process
  const isBuilt = process.env.POSTRIDER_GIT_SHA !== undefined
  if (!isBuilt || env[SWITCH] !== undefined) return
  try {
    process.execve?.(execPath, [argv0, ...argv.slice(2)], { ...env, [SWITCH]: '0' })
  } catch {
    // dearer, and else the same
  }
}

/** An option of JavaScriptCore, as the runtime takes it from the environment. */
const SWITCH = 'BUN_JSC_useFTLJIT'
