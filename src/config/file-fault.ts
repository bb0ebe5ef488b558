import { accessAdvice } from './access-advice.ts'
import { codeOf, SYSTEM_WORDS } from './system-error.ts'

/** Error of using the file at `path` → why it failed and what to do, without the path where nothing is denied. Never
 *  throws. */
export function fileFault(error: unknown, path: string): string {
  const code = codeOf(error)
  if (code === 'EACCES' || code === 'EPERM') return accessAdvice(path)
  return SYSTEM_WORDS[code] ?? (error instanceof Error ? error.message : String(error))
}
