import { expect, test } from 'bun:test'
import { compareVersions, parseSums, versionsFor } from './versions.ts'

const HASH = 'a'.repeat(64)
const line = (name: string) => `${HASH}  ${name}\n`

test('versions are ordered as semver.org orders them', () => {
  const ordered = ['0.1.0-alpha', '0.1.0-alpha.1', '0.1.0-alpha.beta', '0.1.0-beta.2', '0.1.0-beta.11', '0.1.0-rc.1']
  ordered.push('0.1.0', '0.1.1', '0.2.0', '0.10.0', '1.0.0~rc1', '1.0.0', '10.0.0')
  for (const [at, a] of ordered.entries()) {
    for (const [other, b] of ordered.entries()) {
      expect([a, b, Math.sign(compareVersions(a, b))]).toEqual([a, b, Math.sign(at - other)])
    }
  }
  expect(compareVersions('1.0.0+build', '1.0.0')).toBe(0)
})

test('the versions of a target are listed, highest first', () => {
  const names = ['0.9.0-linux-x64', '0.10.0-linux-x64', '0.11.0-linux-arm64', '0.12.0-linux-x64-musl']
  const sums = parseSums(names.map((name) => line(`postrider-${name}.tar.gz`)).join('') + line('install.sh'))!
  expect(versionsFor('x64', sums)).toEqual(['0.10.0', '0.9.0'])
  expect(versionsFor('x64-musl', sums)).toEqual(['0.12.0'])
  expect(versionsFor('arm64-musl', sums)).toEqual([])
})

test('a list of checksums with anything unusual is refused as a whole', () => {
  expect(parseSums(line('a') + line('b'))).toEqual(
    new Map([
      ['a', HASH],
      ['b', HASH],
    ]),
  )
  expect(parseSums(`${HASH} *a\n`)).toEqual(new Map([['a', HASH]])) // as sha256sum --binary
  for (const text of [
    '',
    'hello\n',
    line('a') + line('a'),
    line('../a'),
    line('/etc/passwd'),
    line('folder/a'),
    line('.hidden'),
    line('a b'),
    line('a\0b'),
    line('a\r'),
    line('-rf'),
    line('x'.repeat(200)),
    `${HASH.toUpperCase()}  a\n`,
    `${HASH.slice(1)}  a\n`,
    `${line('a')}# comment\n`,
    Array.from({ length: 300 }, (_, at) => line(`a${at}`)).join(''),
    line('a') + ' '.repeat(70_000),
  ]) {
    expect([text.slice(0, 80), parseSums(text)]).toEqual([text.slice(0, 80), null])
  }
})
