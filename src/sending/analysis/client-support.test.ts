import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientData } from '../../../scripts/client-support/client-data.ts'

test('the support table matches the installed data of caniemail', () => {
  expect(readFileSync(join(import.meta.dir, 'client-data.ts'), 'utf8')).toBe(clientData())
})
