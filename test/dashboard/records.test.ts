import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { until } from '../support/patience.ts'
import { DOMAIN } from '../support/server.ts'
import { focused, spoken } from './accessibility-tree.ts'
import { axeFaults, axeFaultsOfThemes, describeJourneys, overflow, screenshot, settled } from './setup.ts'

/** Domains, API keys and suppressions: create, view, change, delete. */

describeJourneys(({ board, server, journey, heading, press }) => {
  journey('adds a domain, shows errors in DNS, and verifies it after they are fixed', async () => {
    const page = await board().open('/domains', { expected: /400|409/ })
    await press(page, 'Add domain')
    const dialog = page.getByRole('dialog', { name: 'Add domain' })
    await dialog.getByLabel('Domain').fill('no domain')
    await dialog.getByRole('button', { name: 'Add domain' }).click()
    await dialog.locator('.fault').waitFor()
    expect(await dialog.getByLabel('Domain').getAttribute('aria-invalid')).toBe('true')
    await dialog.getByLabel('Domain').fill('https://News.Shop.example/start?from=here')
    await page.keyboard.press('Enter')
    await heading(page, 'news.shop.example')
    await page.getByRole('heading', { name: '4 of 4 required records to fix' }).waitFor()
    await page.getByText('Can’t send').waitFor()

    const copied = (end: string) =>
      until(`${end} to be copied`, async () =>
        (await page.evaluate(() => navigator.clipboard.readText())).endsWith(end),
      )
    const first = page.getByRole('rowgroup', { name: /^DKIM key/ }).first()
    await first.getByRole('button', { name: /^Copy name of/ }).click()
    await copied('._domainkey.news')
    await page.getByRole('combobox', { name: 'Host names' }).selectOption('Full names')
    await first.getByRole('button', { name: /^(Copy|Copied) name of/ }).click()
    await copied('._domainkey.news.shop.example')
    await press(page, 'Copy command')
    await copied('postrider dns apply news.shop.example')
    const exportZone = async () => {
      await press(page, 'Export')
      await press(page, 'Export zone file')
    }
    const [download] = await Promise.all([page.waitForEvent('download'), exportZone()])
    const zone = readFileSync((await download.path())!, 'utf8')
    expect(zone).toContain('bounces.news.shop.example. 3600 IN MX 10 ')

    const { data } = await server().read('/v1/domains')
    const made = data.find(({ name }: { name: string }) => name === 'news.shop.example')
    const [key, ...others] = made.dns_records
    server().zone.set(key.name, 'TXT', [[key.value.replace('v=DKIM1', 'v=DKIM9')]])
    await press(page, 'Check DNS')
    await first.locator('mark').first().waitFor()
    expect(await first.locator('mark').allTextContents()).toEqual(['1', '9'])
    await page.getByText('Checked just now, next check in').waitFor()
    expect(
      await page
        .locator('.toast')
        .getByText(/is ready|missing/)
        .count(),
    ).toBe(0)
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'domain-pending')

    for (const { type, name, value, priority } of [key, ...others]) {
      server().zone.set(name, type, type === 'MX' ? [{ preference: priority, exchange: value }] : [[value]])
    }
    await press(page, 'Check DNS')
    await page.getByText('news.shop.example is ready').waitFor()
    await page.locator('.head').getByText('Ready').waitFor()
    await page.getByText('to fix').waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: 'Copy command' }).count()).toBe(0)

    await page.getByLabel('Track opens').check()
    await page.getByLabel('Tracking domain').fill('links.elsewhere.example')
    await press(page, 'Save')
    await page.locator('.fault').waitFor()
    await page.getByLabel('Tracking domain').fill('links.news.shop.example')
    await press(page, 'Save')
    await page.getByText(/^Optional \(/).click()
    await page.getByRole('rowgroup', { name: 'Tracking domain, links.news.shop.example' }).waitFor()

    await press(page, 'Rotate DKIM keys')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate DKIM keys' }).click()
    await page.getByText('New DKIM keys created').waitFor()
    await until('more than one key', async () => (await page.getByRole('rowgroup', { name: /^DKIM key/ }).count()) > 2)

    await press(page, 'Delete domain')
    await page.getByRole('dialog', { name: 'Delete news.shop.example?' }).waitFor()
    await page.keyboard.press('Escape')
    await press(page, 'Delete domain')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete domain' }).click()
    await heading(page, 'Domains')
    expect(await page.getByRole('link', { name: 'news.shop.example' }).count()).toBe(0)
  })

  journey('creates a key that works, shows its value once, rotates and revokes it', async () => {
    const page = await board().open('/api-keys')
    await press(page, 'Create API key')
    await page.getByLabel('Name').fill('shop')
    await page.getByLabel(/^read:/).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const shown = page.getByRole('dialog', { name: 'Your new API key' })
    await shown.waitFor()
    const value = (await shown.locator('[data-value]').textContent())!
    expect(value).toMatch(/^svc_live_[0-9A-Za-z]{40}$/)
    const asked = (key: string) =>
      fetch(`${board().origin}/v1/messages`, { headers: { authorization: `Bearer ${key}` } }).then(
        ({ status }) => status,
      )
    expect(await asked(value)).toBe(200)
    for (const [tab, text] of [
      ['curl', `Authorization: Bearer ${value}`],
      ['TypeScript', `apiKey: '${value}'`],
      ['PHP', value],
      ['Ruby', value],
      ['SMTP', 'STARTTLS'],
      ['.env', `POSTRIDER_API_KEY=${value}`],
    ] as const) {
      await shown.getByRole('tab', { name: tab, exact: true }).click()
      await shown.getByRole('tabpanel').getByText(text).first().waitFor()
    }
    await press(page, 'Copy key')
    await until(
      'the key to be copied',
      async () => (await page.evaluate(() => navigator.clipboard.readText())) === value,
    )
    expect(await axeFaults(page)).toEqual([])
    await press(page, 'Done')
    expect(await page.content()).not.toContain(value)
    await page.getByRole('row', { name: /shop.*Send, read · sender\.example.*You.*Never/ }).waitFor()
    await screenshot(page, 'api-keys')

    await press(page, 'Actions of shop')
    await press(page, 'Rotate')
    await page.getByLabel('Old key expires').selectOption('0')
    await press(page, 'Rotate key')
    const fresh = (await shown.locator('[data-value]').textContent())!
    expect([await asked(value), await asked(fresh)]).toEqual([401, 200])
    await press(page, 'Done')
    await press(page, 'Actions of shop')
    await press(page, 'Revoke')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('shop revoked').waitFor()
    expect(await asked(fresh)).toBe(401)
    await page.locator('.chip', { hasText: 'revoked' }).waitFor()
  })

  journey('adds, filters, imports, exports and removes suppressions', async () => {
    const page = await board().open('/suppressions', { expected: /400/ })
    await page.getByText('No suppressions').waitFor()
    await press(page, 'Add address')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address').fill('nobody')
    await press(page, 'Suppress')
    await dialog.locator('.fault').waitFor()
    await dialog.getByLabel('Address').fill('ann@customer.example')
    await press(page, 'Suppress')
    await page.getByRole('cell', { name: 'ann@customer.example', exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Reason' }).selectOption('complaint')
    await page.getByText('No suppressions match').waitFor()
    await page.getByRole('combobox', { name: 'Reason' }).selectOption('manual')
    await press(page, 'Actions of ann@customer.example')
    await press(page, 'Remove suppression')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove suppression' }).click()
    await page.getByText('No suppressions match').waitFor()
    await press(page, 'Add address')
    await dialog.getByLabel('Address').fill('cleo@customer.example')
    await dialog.getByLabel('Stream').fill('bulk')
    const held = Promise.withResolvers<void>()
    await page.route('**/v1/usage', (route) => held.promise.then(() => route.continue()))
    await press(page, 'Suppress')
    await page.getByRole('row', { name: 'cleo@customer.example' }).getByText('bulk', { exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'Stream', exact: true }).fill('transactional')
    held.resolve() // the page is drawn again while the user types
    await page.getByText('1 address that Postrider does not send to.').waitFor()
    await page.keyboard.press('Tab')
    await page.getByText('No suppressions match').waitFor()
    await page.getByRole('textbox', { name: 'Stream', exact: true }).fill('')
    await page.keyboard.press('Tab')
    await page.getByRole('cell', { name: 'cleo@customer.example', exact: true }).waitFor()
    await page.getByText('1 address that Postrider does not send to.').waitFor()
    await page.setViewportSize({ width: 390, height: 900 })
    expect(await page.getByText('All domains').isVisible()).toBe(false)
    await press(page, 'Details')
    await page.getByText('All domains').waitFor()
    expect(await overflow(page)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 900 })
    await server().ask('DELETE', '/v1/suppressions/cleo@customer.example')

    await press(page, 'Import')
    const list = page.getByRole('dialog', { name: 'Import suppressions' })
    const csv = 'email,reason\nbob@customer.example,complaint\nno address,manual\n'
    await list.getByLabel('File').setInputFiles({ name: 'old.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await list.getByRole('button', { name: 'Preview' }).click()
    await list.getByText('Preview: 1 address to import, 0 already suppressed, 0 skipped, 1 invalid.').waitFor()
    await list.getByText('Line 3:').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await list.getByLabel('Reason').selectOption('manual')
    await list.getByRole('button', { name: 'Preview' }).click() // a different choice requires a new preview
    expect((await server().read('/v1/suppressions')).data).toEqual([])
    await list.getByRole('button', { name: 'Import 1 address' }).click()
    await list.getByText('Imported 1 address,').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('combobox', { name: 'Reason' }).selectOption('complaint')
    await page.getByRole('cell', { name: 'bob@customer.example', exact: true }).waitFor()
    await press(page, 'More actions')
    const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Export')])
    expect(readFileSync((await download.path())!, 'utf8')).toContain('bob@customer.example')
    await press(page, 'Actions of bob@customer.example')
    await press(page, 'Remove suppression')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove suppression' }).click()
    await page.getByText('No suppressions match').waitFor()
    expect((await server().read('/v1/suppressions')).data).toEqual([])
  })

  journey('reads the task "add a domain" to a screen reader from start to end', async () => {
    const page = await board().open('/domains', { expected: /400/ })
    await page.getByRole('button', { name: 'Add domain' }).focus()
    await page.keyboard.press('Enter')
    await until('the focus in the field', async () => (await focused(page)) === 'textbox "Domain"')
    const field = async () => (await spoken(page)).find(({ role, name }) => role === 'textbox' && name === 'Domain')!
    expect((await field()).description).toContain('keeps its reputation separate')
    expect(await spoken(page)).toContainEqual(expect.objectContaining({ role: 'dialog', name: 'Add domain' }))

    await page.keyboard.type('co.uk')
    await page.keyboard.press('Enter')
    await until('the error of the field', async () => (await field()).isInvalid)
    expect((await field()).description).toContain('Enter a registrable domain, not a public suffix.')
    expect(await focused(page)).toBe('textbox "Domain"')

    await page.getByRole('textbox', { name: 'Domain' }).fill('reader.shop.example')
    await page.keyboard.press('Enter')
    await heading(page, 'reader.shop.example')
    const said = await spoken(page)
    const lines = said.map(({ role, name }) => `${role} ${name}`)
    const at = (line: string) => lines.indexOf(line)
    expect(lines.filter((line) => line.startsWith('heading '))).toContain('heading reader.shop.example')
    expect(at('StaticText Can’t send')).toBeGreaterThan(at('heading reader.shop.example'))
    expect(at('heading 4 of 4 required records to fix')).toBeGreaterThan(at('StaticText Can’t send'))
    expect(at('table Required DNS records')).toBeGreaterThan(at('heading 4 of 4 required records to fix'))
    expect(lines.filter((line) => /^rowgroup (?:DKIM key|Return path|SPF)/.test(line))).toHaveLength(4)
    expect(lines).toContain('button Copy value of Return path')
    expect(lines).toContain('button Copy command')
    // The optional ones are folded: a reader hears that they are there, not their rows.
    expect(lines.some((line) => line.startsWith('rowgroup DMARC'))).toBe(false)
    expect(lines.some((line) => /^DisclosureTriangle Optional \(\d\)/.test(line))).toBe(true)
    expect(await page.title()).toContain('reader.shop.example')
  })

  journey('shows the command that publishes DNS records to operators only, also on a phone', async () => {
    const { body: made } = await server().ask('POST', '/v1/domains', { name: 'a-long-name.command.shop.example' })
    const path = `/domains/${made.id}`
    for (const width of [1440, 390]) {
      const page = await board().open(path, { width })
      await page.getByText('postrider dns apply a-long-name.command.shop.example').waitFor()
      expect([await overflow(page), await axeFaultsOfThemes(page)]).toEqual([[], []])
      await screenshot(page, `domain-command-${width}`)
    }
    const others = await board().open(path, { role: 'owner' })
    await others.getByRole('heading', { name: '4 of 4 required records to fix' }).waitFor()
    expect(await others.getByText('postrider dns apply').count()).toBe(0)
  })

  journey('asks for the name of a domain with keys or mail before it deletes it', async () => {
    const { body: made } = await server().ask('POST', '/v1/domains', { name: 'used.shop.example' })
    const grant = { name: 'Used', domain_id: made.id, mode: 'live', permissions: ['send'] }
    await server().ask('POST', '/v1/api-keys', grant)
    const page = await board().open(`/domains/${made.id}`)
    await press(page, 'Delete domain')
    const dialog = page.getByRole('dialog', { name: 'Delete used.shop.example?' })
    await dialog.getByText('1 API key uses it.').waitFor()
    const name = dialog.getByLabel('Type used.shop.example to delete it')
    await name.fill('used-shop.example')
    await dialog.getByRole('button', { name: 'Delete domain' }).click()
    expect(await name.evaluate((input: HTMLInputElement) => input.validity.patternMismatch)).toBe(true)
    expect((await server().ask('GET', `/v1/domains/${made.id}`)).status).toBe(200)
    await name.fill('used.shop.example')
    await dialog.getByRole('button', { name: 'Delete domain' }).click()
    await heading(page, 'Domains')
    expect((await server().ask('GET', `/v1/domains/${made.id}`)).status).toBe(404)
  })

  journey('is accessible in both themes and fits a phone screen', async () => {
    await server().ask('POST', '/v1/suppressions', { email: 'bob.with.a.long.name@a-rather-long-domain.example' })
    const page = await board().open('/domains')
    const { data } = await server().read('/v1/domains')
    for (const [path, name] of [
      ['/domains', 'Domains'],
      [`/domains/${data.find((domain: { name: string }) => domain.name === DOMAIN).id}`, DOMAIN],
      ['/api-keys', 'API keys'],
      ['/suppressions', 'Suppressions'],
    ] as const) {
      await page.setViewportSize({ width: 1280, height: 900 })
      await page.goto(`${board().origin}/dashboard${path}`)
      await heading(page, name)
      await settled(page)
      expect([path, await axeFaultsOfThemes(page)]).toEqual([path, []])
      await page.setViewportSize({ width: 360, height: 740 })
      await screenshot(page, `${name.toLowerCase().replaceAll(' ', '-')}-360`)
      expect([path, await overflow(page)]).toEqual([path, []])
    }
  })
})
