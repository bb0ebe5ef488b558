import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAULTS, FINDINGS } from './findings.ts'
import { THREATS } from './table.ts'

const ROOT = join(import.meta.dir, '../..')
const textOf = (file: string) => (existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '')

test.each([...THREATS, ...FINDINGS, ...FAULTS].map(({ asset, attack, shown }) => [asset, attack, shown] as const))(
  '%s, %s: its tests are there',
  (_asset, _attack, shown) => {
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.filter(([file, name]) => !textOf(file).includes(name))).toEqual([])
  },
)
