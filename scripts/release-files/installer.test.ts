import { expect, test } from 'bun:test'
import { installerWith } from './installer.ts'

const SCRIPT = `#!/bin/sh\nsigners=''\nprintf '%s' "$signers"\n`
const KEY = 'RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3'

const shown = (script: string) => Bun.spawnSync(['sh'], { stdin: Buffer.from(script) }).stdout.toString()

test('the script has the keys, and the shell changes nothing in them', () => {
  expect(shown(installerWith(SCRIPT, [KEY, `${KEY}2`]))).toBe(`${KEY}\n${KEY}2`)
})

test('without keys the script stays as it is', () => {
  expect(installerWith(SCRIPT, [])).toBe(SCRIPT)
  expect(installerWith('no such line', [])).toBe('no such line')
})

test('a script without the line is an error', () => {
  expect(() => installerWith("  signers=''\n", [KEY])).toThrow("no line signers=''")
})
