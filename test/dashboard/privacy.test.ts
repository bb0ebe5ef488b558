import { expect } from 'bun:test'
import { brokenWords } from './broken-words.ts'
import { axeFaults, describeJourneys, overflow } from './setup.ts'

/** Deleting the content of a message, erasing a recipient, and the rules of streams. */

describeJourneys(({ board, server, journey, heading }) => {
  journey('deletes the content of a message that is sent, and says why and when it is gone', async () => {
    const waiting = await server().send({
      subject: 'Waiting',
      scheduled_at: new Date(server().clock.now() + 3_600_000).toISOString(),
    })
    const sent = await server().send({ subject: 'Sent' })
    await server().ended(sent.body.id)
    const page = await board().open(`/messages/${waiting.body.id}`, { width: 390, expected: /404|422/ })
    const question = page.getByRole('dialog', { name: 'Delete the content of this message?' })
    const confirm = async () => {
      await page.getByRole('button', { name: 'More actions' }).press('Enter')
      await page.getByRole('button', { name: 'Delete content' }).press('Enter')
      await question.getByText('Sender, recipients, subject').waitFor()
      expect([await axeFaults(page), await overflow(page)]).toEqual([[], []])
      await question.getByRole('button', { name: 'Delete content' }).click()
    }
    await confirm()
    await page.getByText('Deliveries are still open. Cancel the message first.').waitFor()
    expect((await server().ask('GET', `/v1/messages/${waiting.body.id}/content`)).status).toBe(200)

    await page.goto(`${board().origin}/dashboard/messages/${sent.body.id}`)
    await heading(page, 'Sent')
    await confirm()
    await page.getByText(/^Deleted on request on 21 Nov 2026/).waitFor()
    expect((await server().ask('GET', `/v1/messages/${sent.body.id}/content`)).status).toBe(404)
    await page.getByRole('tab', { name: 'Analysis' }).click()
    await page.getByText(/^Deleted on request on/).waitFor()
    expect([await axeFaults(page), await overflow(page), await brokenWords(page)]).toEqual([[], [], []])
  })

  journey('erases a recipient from the palette, and shows progress and what was removed', async () => {
    const { body } = await server().send({ to: 'gone@one.remote.example', subject: 'Personal' })
    await server().ended(body.id)
    await server().ask('POST', '/v1/suppressions', { email: 'gone@one.remote.example' })
    await server().ask('POST', '/v1/invitations', { email: 'gone@one.remote.example', role: 'viewer' })
    const page = await board().open('/suppressions', { theme: 'dark', expected: /400|422/ })
    await page.getByText('gone@one.remote.example').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search and commands' }).fill('erase')
    await page.getByRole('option', { name: /Erase a recipient/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'Erase a recipient' })
    await form.getByText('At most 20 erasures of an organization').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await form.getByLabel('Address').fill('not an address')
    await form.getByRole('button', { name: 'Erase recipient' }).click()
    expect(await form.getByRole('checkbox').evaluate((each: HTMLInputElement) => each.validity.valueMissing)).toBe(true)
    await form.getByRole('checkbox').check()
    await form.getByRole('button', { name: 'Erase recipient' }).click()
    await form.locator('.fault').waitFor()
    await form.getByLabel('Address').fill('Gone@one.remote.example')
    await form.getByRole('button', { name: 'Erase recipient' }).click()
    await page.getByRole('row', { name: /Running Nothing yet/ }).waitFor()
    const { store, clock } = server()
    while (await store().erasures.step(clock.now(), () => false));
    const done = page.getByRole('row', { name: /Done 1 message, .*1 suppressed address/ })
    expect(await done.getByRole('link', { name: 'invitation' }).getAttribute('href')).toBe('/dashboard/users')
    expect(page.url()).not.toContain('erase=')
    await page.keyboard.press('Escape')
    await heading(page, 'Suppressions')
    await page.getByText(/^Erased recipient [0-9a-f]{8}$/).waitFor()
    expect(await page.getByText('gone@one.remote.example').count()).toBe(0)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('link', { name: 'Erasures' }).click()
    await heading(page, 'Erasures')
  })

  journey('says that twenty erasures run, in the words of the API', async () => {
    const now = server().clock.now() + 86_400_000 // none is performed before
    for (let at = 0; at < 20; at++) {
      const id = `era_${String(at).padStart(26, '0')}`
      const asked = { id, organizationId: server().organizationId, email: `r${at}@x.example`, now }
      await server().store().erasures.begin(asked)
    }
    const page = await board().open('/erasures?erase=ann@one.remote.example', { expected: /422/ })
    const form = page.getByRole('dialog', { name: 'Erase a recipient' })
    expect(await form.getByLabel('Address').inputValue()).toBe('ann@one.remote.example')
    await form.getByRole('checkbox').check()
    await form.getByRole('button', { name: 'Erase recipient' }).click()
    await form.getByText('20 erasures run. Wait until one has ended.').waitFor()
  })

  journey('shows the rules of the streams, and content deletion and erasure to admins alone', async () => {
    const page = await board().open('/settings?tab=streams')
    await page.getByRole('row', { name: 'transactional When the retention ends Any' }).waitFor()
    const { body } = await server().send({})
    const support = await board().open(`/messages/${body.id}`, { role: 'support' })
    await support.getByRole('button', { name: 'Resend' }).waitFor()
    expect(await support.getByRole('button', { name: 'More actions' }).count()).toBe(0)
    await support.goto(`${board().origin}/dashboard/erasures?erase=yes`)
    await support.getByText('Only admins and owners can open this page').waitFor()
  })
})
