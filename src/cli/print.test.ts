import { expect, test } from 'bun:test'
import { table } from './print.ts'

// threat: terminal-names
test('a name in a table cannot control the terminal or start a new line', () => {
  const text = table(['id', 'name'], [['key_1', 'a\x9b2J\u202eb\nkey_2  forged']])
  expect(text).toBe('ID     NAME\nkey_1  a\\u009b2J\\u202eb\\u000akey_2  forged')
})
