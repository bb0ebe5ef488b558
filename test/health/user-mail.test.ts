import { expect, test } from 'bun:test'
import type { Domain } from '../../src/model/domain.ts'
import { checkUserMail } from '../../src/operating/health/user-mail.ts'

const look = (from: string, domain: Partial<Domain> | null) =>
  checkUserMail({ from, find: async () => domain as Domain, isReady: ({ status }) => status === 'verified' })

test('says whether mail to users goes, and what to do', async () => {
  expect((await look('', null)).status).toBe('skip')
  expect(await look('no-reply@a.example', { status: 'verified' })).toMatchObject({ status: 'pass' })
  expect(await look('no-reply@A.example', { status: 'failed' })).toMatchObject({
    status: 'warn',
    message: 'users.mail_from: a.example is not verified, so links are shown, not sent',
    advice: 'Run `postrider dns check a.example`.',
  })
  expect(await look('no-reply@a.example', null)).toMatchObject({
    status: 'warn',
    advice: 'Add it with `postrider domain add a.example`.',
  })
})
