import { expect } from 'bun:test'
import { FIRST_USER } from '../../src/model/user.ts'
import { axeFaults, describeJourneys, overflow, screenshot } from './setup.ts'

/** People: name and address of the first operator, invitations, roles, and links. */

describeJourneys(({ board, server, journey, heading, press }) => {
  journey('asks the first operator for name and address before somebody is invited', async () => {
    const page = await board().open('/users')
    await press(page, 'Invite user')
    const profile = page.getByRole('dialog', { name: 'Your name and email' })
    await profile.getByLabel('Name').fill('Olivia')
    await profile.getByLabel('Email').fill('Olivia@sender.example')
    await profile.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: 'Invite a user to' }).waitFor()
    expect(await server().store().users.get(FIRST_USER)).toMatchObject({
      name: 'Olivia',
      email: 'olivia@sender.example',
    })
    await page.keyboard.press('Escape')
    expect(await page.getByRole('button', { name: 'Add name and email' }).count()).toBe(0)
    await press(page, 'All users')
    await page.getByRole('cell', { name: 'olivia@sender.example' }).waitFor()
    for (const width of [768, 390]) {
      await page.setViewportSize({ width, height: 844 })
      expect([width, await page.getByText('Password only').isVisible(), await overflow(page)]).toEqual([
        width,
        true,
        [],
      ])
    }
  })

  journey('invites a user who then joins, changes the role, and removes the user', async () => {
    const page = await board().open('/users', { role: 'owner' })
    await press(page, 'Invite user')
    const form = page.getByRole('dialog', { name: 'Invite a user to' })
    await form.getByLabel('Email').fill('ann@sender.example')
    await form.getByLabel('Role').selectOption('developer')
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'users-invite')
    await form.getByRole('button', { name: 'Invite', exact: true }).click()
    const shown = page.getByRole('dialog', { name: 'Invitation for ann@sender.example' })
    const link = await shown.locator('[data-value]').textContent()
    expect(link).toMatch(/\/dashboard\/sign-in#invitation=[0-9A-Za-z]{40}$/)
    await shown.getByText('No mail was sent. This server sends no mail to users yet.').waitFor()
    await shown.getByRole('button', { name: 'Done' }).click()

    // 403: the open page may look at what the role of a viewer hides.
    const guest = await board().blank({ expected: /401|403/ })
    await guest.goto(link!)
    await guest.getByLabel('Your name').fill('Ann')
    await guest.getByLabel('New password').fill('a long enough one')
    await guest.getByRole('button', { name: 'Accept' }).click()
    await guest.getByLabel('Your name').waitFor({ state: 'detached' })

    await page.reload()
    await heading(page, 'Users')
    await page.getByRole('button', { name: 'Actions of Ann' }).click()
    await press(page, 'Change role')
    const role = page.getByRole('dialog', { name: 'Change the role of Ann' })
    await role.getByLabel('Role').selectOption('viewer')
    await role.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /Ann.*viewer/ }).waitFor()
    await screenshot(page, 'users')
    await page.getByRole('button', { name: 'Actions of Ann' }).click()
    expect(await page.getByRole('button', { name: 'Create password link' }).count()).toBe(0)
    await press(page, 'Remove')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('Ann removed').waitFor()
    expect(await server().store().users.findByEmail('ann@sender.example')).toBeNull()
  })

  journey('resends an invitation, which ends its earlier link, and withdraws it', async () => {
    const page = await board().open('/users?invite=yes', { role: 'owner' })
    const form = page.getByRole('dialog', { name: 'Invite a user to' })
    await form.getByLabel('Email').fill('bob@sender.example')
    await form.getByRole('button', { name: 'Invite', exact: true }).click()
    const value = page.locator('[data-value]')
    const first = await value.textContent()
    await press(page, 'Done')
    await page.getByRole('button', { name: 'Actions of the invitation of bob@' }).click()
    await press(page, 'Resend')
    expect(await value.textContent()).not.toBe(first)
    await press(page, 'Done')
    await page.getByRole('button', { name: 'Actions of the invitation of bob@' }).click()
    await press(page, 'Withdraw')
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw', exact: true }).click()
    await page.getByText('Invitation withdrawn').waitFor()
    await page.getByRole('heading', { name: 'Invitations' }).waitFor({ state: 'detached' })
  })

  journey('lets an operator create an operator with a password link, and disable the account', async () => {
    const page = await board().open('/users?scope=all')
    await press(page, 'Add operator')
    const form = page.getByRole('dialog', { name: 'Add an operator' })
    await form.getByLabel('Name').fill('Otto')
    await form.getByLabel('Email').fill('otto@sender.example')
    await form.getByRole('button', { name: 'Add operator' }).click()
    expect(await page.locator('[data-value]').textContent()).toMatch(/#reset=[0-9A-Za-z]{40}$/)
    await press(page, 'Done')
    await page.getByRole('button', { name: 'Actions of Otto' }).click()
    await press(page, 'Disable')
    await page.getByRole('row', { name: /Otto.*Operator when verified.*Disabled/ }).waitFor()
    expect((await server().store().users.findByEmail('otto@sender.example'))?.disabledAt).not.toBeNull()
    expect(await axeFaults(page)).toEqual([])
  })
})
