import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { shapeFault } from './json-shape.ts'

const faultOf = (text: string, levels = 3, values = 5, keys = 3) =>
  shapeFault(Buffer.from(text), { levels, values, keys })

describe('the shape of a body', () => {
  const cases: [string, ReturnType<typeof shapeFault>][] = [
    ['', null],
    ['[[[1]]]', null],
    ['[[[[1]]]]', 'deep'],
    ['{"a":{"b":[{}]}}', 'deep'],
    ['[[[]],[[]],[[]]]', null],
    ['[1,2,3,4,5]', null],
    ['[1,2,3,4,5,6]', 'many'],
    ['["[[[[[[","]]{{{{",",,,,,,,,"]', null],
    [String.raw`["\"[[[[[","\\",[[[1]]]]`, 'deep'],
    [String.raw`["\\\"[[[[[,,,,,,","\\\\",[[1]]]`, null],
    [String.raw`["\\",",,,,,,,","\"",1]`, null],
    ['["never closed [[[[[', null],
    [String.raw`["never closed \"`, null],
    ['["ends with \\', null],
    [']]]]]]]][[[[', null],
    ['{"a":1,"b":1,"c":1}', null],
    ['{"a":1,"b":1,"c":1,"d":1}', 'wide'],
    ['{"a":{"x":1,"y":1},"b":[{"x":1}]}', null],
    ['{"a":{"w":1,"x":1,"y":1,"z":1}}', 'wide'],
    ['}}}:::::', null],
  ]
  test.each(cases)('%p is %p', (text, expected) => {
    expect(faultOf(text)).toBe(expected)
  })

  test('is that of the value, whatever its strings contain', () => {
    const depthOf = (value: unknown): number =>
      typeof value !== 'object' || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf))
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(6), (value, levels) => {
        const fault = faultOf(JSON.stringify(value), levels, 1_000_000, 1_000_000)
        expect(fault).toBe(depthOf(value) > levels ? 'deep' : null)
      }),
    )
  })
})
