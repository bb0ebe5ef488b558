import { VERSION } from '../version.ts'
import { print, printJson } from './print.ts'

/** Prints the version, the commit (`source` if it runs from source) and the version of Bun; as JSON, also the schema steps
 *  that it can open a store at, for `postrider upgrade`. */
export async function version({ json }: { json?: true }): Promise<void> {
  const gitSha = process.env.POSTRIDER_GIT_SHA ?? 'source' // set by scripts/build.ts
  if (!json) return print(`postrider ${VERSION} (${gitSha}, Bun ${Bun.version})`)
  printJson({ version: VERSION, git_sha: gitSha, bun: Bun.version, schemas: await schemas() })
}

/** Every program contains all steps, so it upgrades from the first. */
async function schemas() {
  const { NEWEST_SCHEMA } = await import('../storage/migrations.ts')
  const opened = { oldest: 1, newest: NEWEST_SCHEMA }
  return { sqlite: opened, postgres: opened }
}
