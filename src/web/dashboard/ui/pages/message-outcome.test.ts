import { expect, test } from 'bun:test'
import { outcomeOf } from './message-outcome.ts'

test('a reply without a telling code is shown in its own words, without any code', () => {
  const why = (smtp_response: string | null, bounce_code: string | null = null) =>
    outcomeOf({ status: 'bounced', smtp_response, bounce_code }, {})
  expect(why('554 30 Sorry, your message to this address cannot be delivered.')).toBe(
    'Sorry, your message to this address cannot be delivered.',
  )
  expect(why('550 5.7.1 Message blocked', '5.7.1')).toBe('Message blocked')
  expect(why('550-5.7.1 Message blocked', '5.7.1')).toBe('Message blocked')
  expect(why('550 2 attempts are too many')).toBe('2 attempts are too many')
  expect(why('550 5.1.1 no such user', '5.1.1')).toBe('Mailbox does not exist')
  expect(why(null)).toBe('No reply')
})
