import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { FIRST_USER } from '../../src/model/user.ts'
import { codeOfStep } from '../../src/web/api/sign-in/totp.ts'
import { axeFaults, describeJourneys, overflow, screenshot } from './setup.ts'

/** The account page and the ways of signing in: two-step sign-in by keyboard alone, recovery codes, and a passkey of
 *  Chromium's virtual authenticator. */

const PASSWORD = 'correct horse battery'

describeJourneys(({ board, server, journey, heading, press }) => {
  const code = async (steps = 0) => {
    const { secret } = (await server().store().factors.totp(FIRST_USER))!
    return codeOfStep(secret, Math.floor(server().clock.now() / 30_000) + steps)
  }
  /** Presses Tab until an element with this name has the focus. */
  const tabTo = async (page: Page, name: string | RegExp) => {
    const nameOf = () =>
      page.evaluate(() => {
        const at = document.activeElement as HTMLInputElement | null
        return (at?.labels?.[0]?.textContent ?? at?.getAttribute('aria-label') ?? at?.textContent ?? '').trim()
      })
    for (let presses = 0; presses < 80; presses++) {
      await page.keyboard.press('Tab')
      const found = await nameOf()
      if (typeof name === 'string' ? found === name : name.test(found)) return
    }
    throw new Error(`no ${name} within reach of Tab`)
  }
  const type = async (page: Page, name: string, text: string) => {
    await tabTo(page, name)
    await page.keyboard.type(text)
  }
  const setPassword = async (page: Page) => {
    await page.getByLabel('New password').fill(PASSWORD)
    await press(page, 'Set password')
    await page.getByRole('heading', { name: 'Change password' }).waitFor()
  }
  const signOut = async (page: Page) => {
    await page.getByRole('button', { name: /^Account of/ }).click()
    await press(page, 'Sign out')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }

  journey('two-step sign-in is set up and used by keyboard alone', async () => {
    const page = await board().open('/account', { expected: /400|401/ })
    await setPassword(page)
    await tabTo(page, 'Set up')
    await page.keyboard.press('Enter')
    await type(page, 'Your password', PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('img', { name: 'QR code with the key below' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'two-step-app')
    await type(page, 'Code', '000000')
    await page.keyboard.press('Enter')
    await page.locator('.fault').waitFor()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type(await code())
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Your recovery codes' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'recovery-codes')
    const codes = await page.locator('.codes li').allTextContents()
    expect(codes).toHaveLength(10)
    await tabTo(page, 'Done')
    await page.keyboard.press('Enter')
    await page.getByText('10 of 10 recovery codes left.').waitFor()

    await signOut(page)
    await server().clock.advance(30_000)
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await type(page, 'Password', PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'sign-in-code')
    // The field has the focus.
    await page.keyboard.type('123456')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Wrong code').waitFor()
    await page.getByLabel('Code').fill('')
    await page.keyboard.type(await code())
    await page.keyboard.press('Enter')
    await heading(page, 'Account')

    await signOut(page)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await press(page, 'Use a recovery code')
    await page.keyboard.type(codes[0]!)
    await page.keyboard.press('Enter')
    await heading(page, 'Account')
    await page.getByText('9 of 10 recovery codes left.').waitFor()

    await press(page, 'Turn off')
    await page
      .getByRole('dialog')
      .getByLabel(/^Your password/)
      .fill(PASSWORD)
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
    await page.getByRole('button', { name: 'Set up' }).waitFor()
    expect(await server().store().factors.totp(FIRST_USER)).toBeNull()
  })

  journey('a passkey is added, signs in without address and password, and is removed', async () => {
    await server().clock.advance(60_000) // attempts are limited
    await server().store().users.setPassword(FIRST_USER, null, null)
    const { port } = new URL(board().origin)
    const origin = `http://localhost:${port}`
    const page = await board().blank({ elsewhere: [`localhost:${port}`], expected: /40[01]/ })
    const devTools = await page.context().newCDPSession(page)
    await devTools.send('WebAuthn.enable')
    const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await page.goto((await board().link()).replace(board().origin, origin))
    await heading(page, 'Overview')
    await page.goto(`${origin}/dashboard/account`)
    await press(page, 'Add passkey')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Test device')
    expect(await axeFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('row', { name: /Test device/ }).waitFor()
    const { credentials } = await devTools.send('WebAuthn.getCredentials', { authenticatorId })
    expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }])
    await screenshot(page, 'account')
    expect(await axeFaults(page)).toEqual([])

    await signOut(page)
    await press(page, 'Sign in with a passkey')
    await heading(page, 'Account')
    expect((await server().store().factors.passkeys(FIRST_USER))[0]).toMatchObject({ name: 'Test device' })

    // A device that does not verify its user signs nobody in.
    await signOut(page)
    await devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await press(page, 'Sign in with a passkey')
    await page.getByText('The browser used no passkey').waitFor()
    await devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await press(page, 'Sign in with a passkey')
    await heading(page, 'Account')

    // With a passkey alone, a change needs a recent sign-in: the page says so before a field is filled in.
    await page.clock.setFixedTime(server().clock.now() + 11 * 60_000)
    await page.reload()
    await press(page, 'Add passkey')
    expect(await dialog.getByLabel('Name').count()).toBe(0)
    await press(page, 'Sign in again')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.clock.setFixedTime(server().clock.now())
    await press(page, 'Sign in with a passkey')
    await heading(page, 'Account')
    await press(page, 'Remove Test device')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Sign in with your fingerprint').waitFor()
    await signOut(page)
    await press(page, 'Sign in with a passkey')
    await page.getByText('This passkey does not open an account here.').waitFor()
  })

  journey('a user sees the own sessions and signs out everywhere else, on a phone too', async () => {
    const page = await board().open('/account', { role: 'viewer', width: 390 })
    await page.getByText('(this browser)').waitFor()
    expect(await overflow(page)).toEqual([])
    expect(await page.getByRole('button', { name: 'Sign out everywhere else' }).isDisabled()).toBe(true)
    const users = await server()
      .store()
      .users.list(null, { limit: 9, after: null, createdAfter: null, createdBefore: null })
    const viewer = users.records.find(({ name }) => name === 'viewer')!
    const now = server().clock.now()
    const session = { id: 'ses_other', userId: viewer.id, createdAt: now, lastSeenAt: now, endsAt: now + 9e6 }
    await server()
      .store()
      .sessions.open({ ...session, ipAddress: '192.0.2.9', userAgent: '' }, new Uint8Array(32))
    await page.reload()
    await press(page, 'Sign out everywhere else')
    await page.getByText('Signed out everywhere else').waitFor()
    expect(await server().store().sessions.get('ses_other')).toBeNull()
  })
})
