import { expect } from 'bun:test'
import type { Locator } from 'playwright-core'
import { brokenWords } from './broken-words.ts'
import { axeFaults, chooseTheme, describeJourneys, overflow, screenshot } from './setup.ts'

/** Webhooks: create, deliver, inspect, replay. */

describeJourneys(({ board, server, journey, heading, press }) => {
  journey('creates a webhook, shows its secret once, and lists every delivery with its response', async () => {
    // 404: the page may look at its deliveries once more when the webhook is deleted.
    const page = await board().open('/webhooks', { expected: /400|404/ })
    await press(page, 'Create webhook')
    const dialog = page.getByRole('dialog', { name: 'Create webhook' })
    await dialog.getByLabel('URL').fill('https://10.0.0.1/hook')
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    await dialog.locator('.fault').waitFor()
    await dialog.getByLabel('URL').fill(`${server().receiver.url}-two`)
    await dialog.getByLabel(/^message.opened/).uncheck()
    await dialog.getByLabel('Headers').fill('X-Api-Key: key of the gateway\nAuthorization: Bearer a:b\n')
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    const secret = page.getByRole('dialog', { name: 'Signing secret' })
    expect(await secret.locator('[data-value]').textContent()).toMatch(/^whsec_/)
    expect(await axeFaults(page)).toEqual([])
    await press(page, 'Done')

    await page.getByRole('link', { name: `${server().receiver.url}-two` }).click()
    await heading(page, `${server().receiver.url}-two`)
    await page.getByText('No deliveries yet').waitFor()
    await page.getByText('X-Api-Key, Authorization', { exact: true }).waitFor()
    server().receiver.script({ status: 500, body: 'out of order <b>here</b>' })
    await press(page, 'Send test event')
    await page.getByLabel('Event', { exact: true }).selectOption('message.clicked')
    await press(page, 'Send')
    const details = page.getByRole('button', { name: /^Details/ })
    await details.click()
    const shown = page.getByRole('dialog', { name: 'message.clicked' })
    await shown.getByText('out of order <b>here</b>').waitFor()
    await shown.getByText('"test": true').waitFor()
    const { headers } = server().receiver.requests.at(-1)!
    expect([headers['x-api-key'], headers.authorization]).toEqual(['key of the gateway', 'Bearer a:b'])
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'webhook-delivery')
    server().receiver.script(204)
    await press(page, 'Retry now')
    await page.getByRole('cell', { name: '204, 2 attempts' }).waitFor()
    await page.getByRole('combobox', { name: 'Status' }).selectOption('failed')
    await page.getByText('No deliveries match').waitFor()
    await page.getByRole('combobox', { name: 'Status' }).selectOption('')

    const { body } = await server().send()
    await server().ended(body.id)
    await page.getByRole('cell', { name: 'message.delivered' }).waitFor()
    await server().clock.advance(1_000)
    const before = server().receiver.requests.length
    await press(page, 'Replay events')
    await page.getByLabel('From').fill('2020-01-01T00:00')
    await press(page, 'Replay')
    await press(page, 'Replay now')
    await page.getByText(/events? queued$/).waitFor()
    await server().receiver.received(before + 1)

    await press(page, 'Actions of this webhook')
    await press(page, 'Rotate secret')
    expect(await page.getByLabel('Old secret expires').inputValue()).toBe('60')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await secret.getByText('also signed with the old secret until').waitFor()
    await press(page, 'Done')
    await press(page, 'Actions of this webhook')
    await press(page, 'Pause')
    await page.locator('.chip', { hasText: 'paused' }).waitFor()
    expect(await page.getByRole('button', { name: 'Send test event' }).isDisabled()).toBe(true)
    await press(page, 'Actions of this webhook')
    await press(page, 'Resume')
    await page.locator('.chip', { hasText: 'active' }).waitFor()
    await press(page, 'Actions of this webhook')
    await press(page, 'Edit')
    await page.getByText('Set: X-Api-Key, Authorization.').waitFor()
    expect(await page.getByLabel('Headers', { exact: true }).inputValue()).toBe('')
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'webhook-edit')
    await page.getByLabel('Description').fill('the second one')
    await press(page, 'Save')
    await page.getByText('the second one').waitFor()
    await page.getByText('X-Api-Key, Authorization', { exact: true }).waitFor()
    await press(page, 'Actions of this webhook')
    await press(page, 'Edit')
    await page.getByLabel('Remove the headers').check()
    await press(page, 'Save')
    await page.getByText('X-Api-Key, Authorization', { exact: true }).waitFor({ state: 'detached' })

    for (const theme of ['light', 'dark'] as const) {
      await chooseTheme(page, theme)
      expect(await axeFaults(page)).toEqual([])
    }
    await screenshot(page, 'webhook')
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await overflow(page)).toEqual([])
    await press(page, 'Actions of this webhook')
    await press(page, 'Delete')
    await press(page, 'Delete webhook')
    await heading(page, 'Webhooks')
    expect(await overflow(page)).toEqual([])
    expect(await page.getByRole('link', { name: '-two' }).count()).toBe(0)
  })

  journey('replays a delivery by keyboard alone, with request and response side by side', async () => {
    const url = `${server().receiver.url}-with-a-rather-long-name/for-events/of-the-shop/in-production`
    const { body: webhook } = await server().ask('POST', '/v1/webhooks', { url, events: ['message.delivered'] })
    server().receiver.script({ status: 503, body: 'come back later' })
    await server().ask('POST', `/v1/webhooks/${webhook.id}/test`, { type: 'message.delivered' })
    const page = await board().open(`/webhooks/${webhook.id}`)
    const details = page.getByRole('button', { name: /^Details/ })
    await page.getByRole('cell', { name: '503' }).waitFor()
    const isFocused = (name: RegExp) =>
      page.evaluate((source) => new RegExp(source).test(document.activeElement?.textContent ?? ''), name.source)
    const tabTo = async (name: RegExp) => {
      for (let n = 0; n < 60 && !(await isFocused(name)); n++) await page.keyboard.press('Tab')
      expect([name.source, await isFocused(name)]).toEqual([name.source, true])
    }
    await page.getByRole('combobox', { name: 'Event type' }).focus()
    await tabTo(/^Details/)
    await page.keyboard.press('Enter')
    const shown = page.getByRole('dialog', { name: 'message.delivered' })
    const [request, response] = [
      shown.getByRole('region', { name: 'Request' }),
      shown.getByRole('region', { name: 'Responses' }),
    ]
    await response.getByText('come back later').waitFor()
    const signature = await request.getByText(/^X-Service-Signature: t=\d+,v1=[0-9a-f]{64}$/m).textContent()
    expect(signature).toContain('X-Service-Delivery-Attempt: 1')
    const sent = server().receiver.requests.findLast(({ path }) => url.endsWith(path))!.headers['x-service-signature']
    expect(signature).toContain(String(sent))
    expect(await axeFaults(page)).toEqual([])
    expect(await besides(request, response)).toBe(true)
    await screenshot(page, 'webhook-delivery-wide')
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await besides(request, response)).toBe(false)
    expect([await overflow(page), await brokenWords(page)]).toEqual([[], []])
    await screenshot(page, 'webhook-delivery-390')
    await tabTo(/^Retry now$/)
    server().receiver.script(204)
    await page.keyboard.press('Enter')
    await shown.waitFor({ state: 'detached' })
    await page.getByText('204, 2 attempts').waitFor()
    await details.waitFor()
    expect([await overflow(page), await brokenWords(page)]).toEqual([[], []])
    await page.getByRole('combobox', { name: 'Event type' }).selectOption('message.bounced')
    await page.getByText('No deliveries match').waitFor()
  })
})

/** True if the second element starts to the right of the first one. */
async function besides(first: Locator, second: Locator): Promise<boolean> {
  const [left, right] = [(await first.boundingBox())!, (await second.boundingBox())!]
  return right.x >= left.x + left.width
}
