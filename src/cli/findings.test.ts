import { expect, test } from 'bun:test'
import { fail, pass, skip, warn } from '../operating/health/check.ts'
import { findings } from './findings.ts'
import { colorsFor } from './print.ts'

const plain = colorsFor({}, false)

test('prints a line for each check in aligned columns, with the advice below', () => {
  const text = findings(
    [
      { name: 'hostname', ...pass('mail.acme.example is 192.0.2.1') },
      { name: 'outbound_port_25', ...fail('it is blocked', 'Ask the provider.\nOr send by a smarthost.') },
      { name: 'clock', ...warn('8 seconds behind', 'Set it.') },
      { name: 'smarthost', ...skip('none is set') },
    ],
    plain,
  )
  expect(text).toBe(
    [
      '  ✓ hostname          mail.acme.example is 192.0.2.1',
      '  ✗ outbound port 25  it is blocked',
      '      → Ask the provider.',
      '        Or send by a smarthost.',
      '  ! clock             8 seconds behind',
      '      → Set it.',
      '  - smarthost         none is set',
    ].join('\n'),
  )
})

// threat: formulas-and-terminal-controls
test('a server’s reply or a DNS name cannot control the terminal', () => {
  const text = findings(
    [{ name: 'hostname', ...fail('mx.example refuses: 554 \x1b[2J\r\u202e', 'Leave \x07one') }],
    plain,
  )
  expect(text).toBe('  ✗ hostname  mx.example refuses: 554 \\u001b[2J\\u000d\\u202e\n      → Leave \\u0007one')
})
