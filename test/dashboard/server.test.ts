import { expect } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import { axeFaults, axeFaultsOfThemes, describeJourneys, overflow, screenshot, settled } from './setup.ts'

/** Operator pages: organizations and plans, sign-in, configuration, audit log, sending addresses. */

const PLANS: ConfigValues = { plans: { tight: { domains: 1 } }, billing: { self_service_plans: ['starter'] } }

describeJourneys(({ board, server, journey, heading, press }) => {
  journey('creates an organization, changes its plan and switches to it', async () => {
    await server().clock.advance(1_000) // the other one is older
    const page = await board().open('/organizations', { expected: /409/ })
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
    const other = await board().open('/settings?tab=sessions', { expected: /401/ })
    await page.getByLabel('New password').fill('correct horse battery')
    await press(page, 'Set password')
    await page.getByRole('heading', { name: 'Change password' }).waitFor()
    await other.getByRole('tab', { name: 'Members' }).click()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await other.getByText('Your session ended.').waitFor()
    expect(await axeFaults(other)).toEqual([])
    await page.getByLabel('Current password').fill('something else')
    await page.getByLabel('New password').fill('another horse battery')
    await press(page, 'Change password')
    await page.locator('.fault').waitFor()

    await other.getByLabel('Password').fill('correct horse battery')
    await other.keyboard.press('Enter')
    await heading(other, 'Settings')
    await page.goto(`${board().origin}/dashboard/settings?tab=sessions`)
    await page.getByRole('button', { name: /^End/ }).nth(1).waitFor()
    await page.getByRole('row', { name: /\(this browser\)/ }).waitFor()
    await page.getByRole('row').filter({ hasNotText: '(this browser)' }).getByRole('button', { name: /^End/ }).click()
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  journey('shows configuration and audit log, accessible in both themes', async () => {
    await server().ask('POST', '/v1/suppressions', { email: 'ann@customer.example' })
    const page = await board().open('/settings?tab=configuration')
    await page.getByText('Edit the config file').waitFor()
    await page.getByRole('tab', { name: 'Audit log' }).click()
    const row = page.getByRole('cell', { name: /^Key \w+ added suppression/ }).first()
    await row.waitFor()
    await page.getByRole('combobox', { name: 'Action' }).selectOption('Added suppression')
    await row.waitFor()
    await page.getByRole('combobox', { name: 'Who' }).selectOption('Command line')
    await row.waitFor({ state: 'detached' })
    for (const [path, name] of [
      ['/organizations', 'Organizations'],
      ['/settings', 'Settings'],
      ['/settings?tab=configuration', 'Settings'],
      ['/settings?tab=audit-log', 'Settings'],
      ['/settings?tab=plan', 'Settings'],
      ['/settings?tab=members', 'Settings'],
      ['/settings?tab=sessions', 'Settings'],
    ] as const) {
      await page.setViewportSize({ width: 1280, height: 900 })
      await page.goto(`${board().origin}/dashboard${path}`)
      await heading(page, name)
      await settled(page)
      expect([path, await axeFaultsOfThemes(page)]).toEqual([path, []])
      await page.setViewportSize({ width: 360, height: 740 })
      await screenshot(page, `${path.replace(/\W+/g, '-').slice(1)}-360`)
      expect([path, await overflow(page)]).toEqual([path, []])
    }
  })

  journey(
    'shows an owner plan, usage and members, and lets them change to a plan that the operator offers',
    async () => {
      const { body: key } = await server().ask('POST', '/v1/api-keys', {
        name: 'Shop backend',
        domain_id: (await server().read('/v1/domains')).data.at(-1).id,
        mode: 'live',
        permissions: ['send'],
      })
      const page = await board().open('/settings', { role: 'owner' })
      expect(await page.getByRole('tab').allTextContents()).toEqual(['General', 'Plan & usage', 'Members', 'Audit log'])
      await page.getByText(server().organizationId).waitFor()
      await page.getByRole('tab', { name: 'Plan & usage' }).click()
      await page.getByRole('tabpanel').getByText('API keys', { exact: true }).waitFor()
      await press(page, 'Change to starter')
      await page.getByRole('dialog').getByText('shorter retention period').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Change plan' }).click()
      await page.getByRole('heading', { name: 'Plan: starter' }).waitFor()
      expect((await server().store().organizations.get(server().organizationId))?.plan).toBe('starter')
      expect(await axeFaults(page)).toEqual([])

      await page.getByRole('tab', { name: 'Members' }).click()
      await page.getByRole('row', { name: /owner.*\(you\)/ }).waitFor()
      await press(page, 'Invite user')
      await page.getByRole('dialog', { name: 'Invite a user to' }).waitFor()
      await page.keyboard.press('Escape')

      await page.getByRole('tab', { name: 'Audit log' }).click()
      const created = page.getByRole('cell', { name: /created API key Shop backend/ })
      await created.getByRole('link', { name: 'Shop backend' }).waitFor()
      await server().ask('DELETE', `/v1/api-keys/${key.id}`)
      const viewer = await board().open('/settings', { role: 'viewer' })
      expect(await viewer.getByRole('tab').allTextContents()).toEqual(['General', 'Plan & usage'])
      await viewer.getByRole('tab', { name: 'Plan & usage' }).click()
      await viewer.getByText('Messages this month', { exact: true }).waitFor()
      expect(await viewer.getByRole('heading', { name: 'Change plan' }).count()).toBe(0)
    },
  )

  journey('warns on the overview when a limit is 80 % used', async () => {
    const { organizationId } = server()
    await server().store().organizations.setPlan(organizationId, 'tight')
    const page = await board().open('/', { role: 'viewer' })
    await page.getByText('Limit reached: domains, 1 of 1.').waitFor()
    await page.getByRole('link', { name: /^Plan and usage/ }).click()
    await heading(page, 'Settings')
    await server().store().organizations.setPlan(organizationId, 'starter')
  })

  journey('says how to configure sending addresses where there are none', async () => {
    const page = await board().open('/sending-addresses')
    await page.getByText('[[sending.addresses]]').waitFor()
    expect(await axeFaults(page)).toEqual([])
  })
}, PLANS)
