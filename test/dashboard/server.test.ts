import { expect } from 'bun:test'
import { axeFaults, axeFaultsOfThemes, describeJourneys, overflow, screenshot } from './setup.ts'

/** Operator pages: organizations and plans, sign-in, configuration, audit log, sending addresses. */

describeJourneys(({ board, server, journey, heading, press }) => {
  journey('creates an organization, changes its plan and switches to it', async () => {
    await server().clock.advance(1_000) // the other one is older
    const page = await board().open('/organizations', { expected: /409/ })
    await page.getByRole('heading', { name: 'Usage of Shop' }).waitFor()
    await press(page, 'Create organization')
    const dialog = page.getByRole('dialog', { name: 'Create organization' })
    await dialog.getByLabel('Name').fill('Shop')
    await dialog.getByRole('button', { name: 'Create organization' }).click()
    await dialog.locator('.fault').waitFor()
    await dialog.getByLabel('Name').fill('Bakery')
    await dialog.getByLabel('Plan').selectOption('starter')
    await dialog.getByRole('button', { name: 'Create organization' }).click()
    await press(page, 'Actions of Bakery')
    await press(page, 'Edit')
    await page.getByLabel('Plan').selectOption('pro')
    await press(page, 'Save')
    await page.getByRole('cell', { name: '150,000 messages per month, 10 domains, 30-day retention' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'organizations')
    await press(page, 'Actions of Bakery')
    await press(page, 'Switch to Bakery')
    await heading(page, 'Overview')
    await page.goto(`${board().origin}/dashboard/domains`)
    await page.getByText('No domains yet').waitFor()
    expect(await page.getByRole('combobox', { name: 'Organization' }).inputValue()).toStartWith('org_')
  })

  journey('sets a password, signs in with it and ends other sessions', async () => {
    const page = await board().open('/account', { expected: /400|401/ })
    const other = await board().open('/settings', { expected: /401/ })
    await page.getByLabel('New password').fill('correct horse battery')
    await press(page, 'Set password')
    await page.getByRole('heading', { name: 'Change password' }).waitFor()
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in with a link' }).waitFor()
    await page.getByLabel('Current password').fill('something else')
    await page.getByLabel('New password').fill('another horse battery')
    await press(page, 'Change password')
    await page.locator('.fault').waitFor()

    await other.getByLabel('Password').fill('correct horse battery')
    await other.keyboard.press('Enter')
    await heading(other, 'Settings')
    await page.goto(`${board().origin}/dashboard/settings`)
    await page.getByRole('button', { name: /^End/ }).nth(1).waitFor()
    await page.getByRole('row', { name: /\(this browser\)/ }).waitFor()
    await page.getByRole('row').filter({ hasNotText: '(this browser)' }).getByRole('button', { name: /^End/ }).click()
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in with a link' }).waitFor()
  })

  journey('shows configuration and audit log, accessible in both themes', async () => {
    await server().ask('POST', '/v1/suppressions', { email: 'ann@customer.example' })
    const page = await board().open('/settings?tab=configuration')
    await page.getByText('Edit the config file').waitFor()
    await page.getByRole('tab', { name: 'Audit log' }).click()
    await page.getByRole('cell', { name: 'suppressions_create' }).waitFor()
    await page.getByRole('combobox', { name: 'Actor' }).selectOption('operator')
    await page.getByRole('cell', { name: 'suppressions_create' }).waitFor({ state: 'detached' })
    for (const [path, name] of [
      ['/organizations', 'Organizations'],
      ['/settings', 'Settings'],
      ['/settings?tab=configuration', 'Settings'],
      ['/settings?tab=audit-log', 'Settings'],
    ] as const) {
      await page.setViewportSize({ width: 1280, height: 900 })
      await page.goto(`${board().origin}/dashboard${path}`)
      await heading(page, name)
      await page.getByText('Loading…').waitFor({ state: 'detached' })
      expect([path, await axeFaultsOfThemes(page)]).toEqual([path, []])
      await page.setViewportSize({ width: 360, height: 740 })
      await screenshot(page, `${path.replace(/\W+/g, '-').slice(1)}-360`)
      expect([path, await overflow(page)]).toEqual([path, []])
    }
  })

  journey('says how to configure sending addresses where there are none', async () => {
    const page = await board().open('/sending-addresses')
    await page.getByText('[[sending.addresses]]').waitFor()
    expect(await axeFaults(page)).toEqual([])
  })
})
