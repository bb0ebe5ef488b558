import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { namedValues, readObject, readText, readVariables } from './given-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-given-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

describe('options with a name and a value', () => {
  test('keep everything after the first separator', () => {
    expect(namedValues('variable', ['a=b=c', 'empty=', ' x = y '], '=')).toEqual({ a: 'b=c', empty: '', ' x ': ' y ' })
    expect(namedValues('header', ['X-A:  1:2 ', 'X-B:'], ':')).toEqual({ 'X-A': '1:2', 'X-B': '' })
    expect(Object.entries(namedValues('variable', ['__proto__=x'], '='))).toEqual([['__proto__', 'x']])
  })

  test.each([
    ['header', ':', ['X-Order'], 'header: expected "Name: value", found "X-Order"'],
    ['header', ':', [': x'], 'header: expected "Name: value", found ": x"'],
    ['header', ':', ['X-A: 1', 'X-A: 2'], 'header: X-A must appear only once'],
    ['variable', '=', ['name'], 'variable: expected NAME=VALUE, found "name"'],
    ['variable', '=', ['a=1', 'a=1'], 'variable: a must appear only once'],
  ] as const)('%s with %p refuses %p', (option, separator, given, message) => {
    expect(() => namedValues(option, given, separator)).toThrow(message)
  })
})

describe('options with a file', () => {
  test('read text and variables, which single ones replace', () => {
    expect(readText('text-file', file('bom', '\ufeffgrün\r\n'))).toBe('grün\r\n')
    const variables = file('v.json', '{"name": "Ann", "items": [1], "__proto__": 2}')
    const read = readVariables({ variables, variable: ['name=Bob'] })
    expect(Object.entries(read ?? {})).toEqual([
      ['name', 'Bob'],
      ['items', [1]],
      ['__proto__', 2],
    ])
    expect(readVariables({ variable: ['a=b'] })).toEqual({ a: 'b' })
    expect(readVariables({})).toBeUndefined()
  })

  test('name the option and the file that cannot be read', () => {
    const missing = join(folder, 'missing')
    expect(() => readText('html-file', missing)).toThrow(`html-file: ${missing}: no such file or folder`)
    expect(() => readText('html-file', folder)).toThrow(/^html-file: /)
    expect(() => readText('html-file', file('bytes', new Uint8Array([0xff])))).toThrow(/^html-file: .* is not UTF-8$/)
    expect(() => readObject('sample', file('text', 'hello'))).toThrow(/^sample: .*text is not JSON: /)
    expect(() => readObject('sample', file('list', '[]'))).toThrow(/^sample: .*list must contain a JSON object$/)
  })
})
