import { VERSION } from '../version.ts'
import { print, printJson } from './print.ts'

/** Prints the version, the commit (`source` if it runs from source) and the version of Bun. */
export function version({ json }: { json?: true }): void {
  const gitSha = process.env.POSTRIDER_GIT_SHA ?? 'source' // set by scripts/build.ts
  if (json) printJson({ version: VERSION, git_sha: gitSha, bun: Bun.version })
  else print(`postrider ${VERSION} (${gitSha}, Bun ${Bun.version})`)
}
