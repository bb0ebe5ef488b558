import { dirname, resolve } from 'node:path'

/** Loaded into the program before its main module, which then never runs. Runs commands with the same functions, for
 *  each message with arguments, and answers with the exit code. */

const main = await Bun.file(Bun.main).text()

/** A function that the main module imports. In the built program only that module says which file contains it. */
async function importedByMain(name: string) {
  const path = new RegExp(`\\b${name}\\b[^}]*} ?= ?await import\\(["'](.+?)["']\\)`).exec(main)?.[1]
  if (path === undefined) throw new Error(`the main module does not import ${name}`)
  return (await import(resolve(dirname(Bun.main), path)))[name]
}

if (Bun.isMainThread) {
  delete process.env.BUN_OPTIONS // programs that a command starts do not load this
  process.setMaxListeners(0) // some commands listen to signals until they end
  const runCommand = await importedByMain('runCommand')
  const flushLog = await importedByMain('flushLog')
  process.on('message', async (args: string[]) => {
    const code = await runCommand(args)
    flushLog()
    process.send!(code)
  })
  await new Promise(() => {})
}
