import { expect, test } from 'bun:test'
import { expectCostUnder } from '../../../test/support/cpu-cost.ts'
import { unsealedMail } from './seal.ts'

// threat: dkim-header-cost
test('a forward with many carriage returns in its header costs no time to seal', async () => {
  // Forwards are sealed with lines of at most 998 bytes.
  const field = `X: ${'\r'.repeat(990)}x\r\n`
  const mail = Buffer.from(`From: ceo@bank.test\r\n${field.repeat(1_000)}\r\nHello\r\n`)
  await expectCostUnder(250, async () => expect((await unsealedMail(mail, 'none'))?.sets).toBe(0))
})
