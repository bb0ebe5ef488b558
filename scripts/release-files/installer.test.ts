import { expect, test } from 'bun:test'
import { installerWith } from './installer.ts'

const SCRIPT = `#!/bin/sh\nsigners=''\nprintf '%s' "$signers"\n`
const KEY = 'release@example.com namespaces="postrider-release" ssh-ed25519 AAAA+/= $(touch x) `id` \\ a'

const shown = (script: string) => Bun.spawnSync(['sh'], { stdin: Buffer.from(script) }).stdout.toString()

test('the script has the keys without comments, and the shell changes nothing in them', () => {
  expect(shown(installerWith(SCRIPT, `# comment\n\n${KEY}\n${KEY}2\n`))).toBe(`${KEY}\n${KEY}2`)
})

test('without keys the script stays as it is', () => {
  expect(installerWith(SCRIPT, '# no key yet\n')).toBe(SCRIPT)
  expect(installerWith('no such line', '')).toBe('no such line')
})

test('a key with a quotation mark, and a script without the line, are errors', () => {
  expect(() => installerWith(SCRIPT, "a'; id; '")).toThrow('quotation mark')
  expect(() => installerWith("  signers=''\n", KEY)).toThrow("no line signers=''")
})
