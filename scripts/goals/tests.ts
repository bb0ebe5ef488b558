import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `test/x.test.ts: part of a name` → those of which no such test is there. */
export function missingTests(root: string, wanted: readonly string[]): string[] {
  return wanted.filter((each) => {
    const [file = '', name = ''] = each.split(/: (.*)/s)
    const path = join(root, file)
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(name)
  })
}
