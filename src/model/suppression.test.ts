import { expect, test } from 'bun:test'
import { suppressionKey } from './suppression.ts'

test.each([
  ['Ann@D.Example', 'ann@d.example'],
  ['"Ann"@d.example', 'ann@d.example'],
  ['a..b@d.example', '"a..b"@d.example'],
  ['"a..b"@d.example', '"a..b"@d.example'],
  ['Abc.@d.example', '"abc."@d.example'],
  ['d.example', 'd.example'],
  ['', ''],
])('each spelling of an address has one form in which suppressions are compared: %j', (email, key) => {
  expect(suppressionKey(email)).toBe(key)
})
