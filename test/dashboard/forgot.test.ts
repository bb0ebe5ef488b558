import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { hashToken } from '../../src/web/api/sessions.ts'
import { until } from '../support/patience.ts'
import { untilInTime } from '../support/server.ts'
import { addUser, MAIL_FROM, tokenIn } from '../support/user-mail.ts'
import { axeFaults, describeWithBrowser, overflow, screenshot, startDashboard, type TestDashboard } from './setup.ts'

/** Links by mail, in Chromium on a phone: a forgotten password and an invitation. */

const PHONE = { width: 390, height: 844 }
const EMAIL = 'ann@one.remote.example'

describeWithBrowser('links by mail', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard(async (server) => void (await addUser(server, EMAIL, { isOperator: true })), {
      users: { mail_from: MAIL_FROM },
    })
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  test('a user asks for a link on the sign-in page, gets it by mail, sets a password, and signs in', async () => {
    const { server, remote, origin } = board
    const page = await board.blank({ ...PHONE, expected: /401/ })
    await page.goto(`${origin}/dashboard/messages`)
    await page.getByRole('button', { name: 'Forgot your password?' }).click()
    await page.getByRole('heading', { name: 'Set a new password' }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('email')
    expect([await axeFaults(page), await overflow(page)]).toEqual([[], []])
    await screenshot(page, 'forgot-390')
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByRole('button', { name: 'Send link' }).click()
    await untilInTime(server.clock, 'the response', () => page.getByText('Check your mail').isVisible())
    await page.getByText(`If ${EMAIL} has an account with a password`).waitFor()
    expect([await axeFaults(page), await overflow(page)]).toEqual([[], []])
    await screenshot(page, 'forgot-asked-390')

    const [mail] = await remote.received(1)
    await page.goto(`${origin}/dashboard/sign-in#reset=${tokenIn(mail!, 'reset')}`)
    await page.getByLabel('New password').fill('an entirely new one')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByLabel('New password').waitFor({ state: 'detached' })
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill('an entirely new one')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await remote.received(2)
  })

  test('a link for a new password lists passkeys of the last days, and removes those that the user does not know', async () => {
    const { server, origin } = board
    const id = await addUser(server, 'carol@one.remote.example')
    const { factors, users } = server.store()
    const now = server.clock.now()
    const challenge = new Uint8Array(32).fill(9)
    await factors.addChallenge({ kind: 'new_passkey', userId: id, expiresAt: now + 1e6 }, challenge, now)
    const key = { credentialId: 'strange', publicKey: new Uint8Array(1), counter: 0, transports: [], lastUsedAt: null }
    const passkey = { ...key, id: 'psk_1', userId: id, name: 'Somebody’s phone', createdAt: now }
    expect(await factors.addPasskey(passkey, challenge)).toBe('added')
    const token = '0123456789'.repeat(4)
    const reset = { tokenHash: hashToken(token), userId: id, isProof: true, createdAt: now, expiresAt: now + 1e6 }
    await users.addResets([reset])

    const page = await board.blank({ ...PHONE, expected: /401|409/ })
    await page.goto(`${origin}/dashboard/sign-in#reset=${token}`)
    await page.getByLabel('New password').fill('an entirely new one')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('Somebody’s phone, added').waitFor()
    expect([await axeFaults(page), await overflow(page)]).toEqual([[], []])
    await screenshot(page, 'reset-factors-390')
    expect(await page.getByLabel('Did you add these?').inputValue()).toBe('remove')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByLabel('New password').waitFor({ state: 'detached' })
    expect(await factors.passkeys(id)).toEqual([])
  })

  test('an owner invites, and the page says that the mail is on its way', async () => {
    const page = await board.open('/users?invite=yes', { role: 'owner', ...PHONE })
    const form = page.getByRole('dialog', { name: 'Invite a user to' })
    await form.getByLabel('Email').fill('bob@one.remote.example')
    await form.getByRole('button', { name: 'Invite', exact: true }).click()
    const shown = page.getByRole('dialog', { name: 'Invitation for bob@one.remote.example' })
    await shown.getByText('A mail with a link is on its way to bob@one.remote.example.').waitFor()
    expect(await shown.locator('[data-value]').count()).toBe(0)
    expect([await axeFaults(page), await overflow(page)]).toEqual([[], []])
    await screenshot(page, 'users-invited-390')
    await until('the mail', () => board.remote.mails.some(({ rcptTo }) => rcptTo[0]!.startsWith('bob@')))
    const mail = board.remote.mails.find(({ rcptTo }) => rcptTo[0]!.startsWith('bob@'))!
    expect(tokenIn(mail, 'invitation')).toHaveLength(40)
  })
})
