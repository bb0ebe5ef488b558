import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore } from '../../src/storage/postgres/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { describeWith } from '../support/real-tools.ts'
import { axeFaults, overflow, screenshot, startDashboard, type TestDashboard } from './setup.ts'

describeWith(['postgresql', 'chromium'], 'the health page of an installation on PostgreSQL', () => {
  let postgres: TestPostgres
  let board: TestDashboard
  let second: Store | null = null
  const folder = mkdtempSync(join(tmpdir(), 'postrider-node-'))
  beforeAll(async () => {
    postgres = await startPostgres()
    const url = await postgres.createDatabase('dashboard')
    board = await startDashboard(
      async (server) => {
        copyFileSync(join(server.dataDir, 'seal.key'), join(folder, 'seal.key'))
        const node = { name: 'mx2.sender.example', hostname: 'mx2.sender.example', version: '0.1.0' }
        second = await openPostgresStore({ url, dataDir: folder, now: server.clock.now(), clock: Date.now, node })
      },
      { health: { look_outside: false }, database: { url }, cluster: { name: 'a-node-with-a-name-of-its-own' } },
    )
  })
  afterEach(() => board?.closePages())
  afterAll(async () => {
    await second?.close()
    await board?.close()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test.each([
    [1280, 'light'],
    [1280, 'dark'],
    [768, 'light'],
    [768, 'dark'],
    [360, 'light'],
    [360, 'dark'],
  ] as const)('shows nodes and database at %d px, %s', async (width, theme) => {
    const page = await board.open('/health', { width, theme })
    const nodes = page.getByRole('region', { name: 'Nodes', exact: true })
    const own = nodes.getByRole('row', { name: /a-node-with-a-name-of-its-own.*mail\.sender\.example.*Active/s })
    await own.waitFor()
    await nodes.getByRole('row', { name: /mx2\.sender\.example.*Active/s }).waitFor()
    const database = page.getByRole('region', { name: 'PostgreSQL', exact: true })
    await database.getByText(postgres.psql('show server_version')).waitFor()
    await database.getByText(/^\d+ of 100$/).waitFor()
    expect(await axeFaults(page)).toEqual([])
    expect(await overflow(page)).toEqual([])
    await screenshot(page, `nodes-${width}-${theme}`)
  })

  test.each(['light', 'dark'] as const)('shows the checks of PostgreSQL and nodes, %s', async (theme) => {
    const page = await board.open('/health', { theme })
    await page.getByRole('button', { name: 'Run checks', exact: true }).click()
    await page.getByText(/checks OK/).click()
    await page.getByText('in step with PostgreSQL').waitFor()
    // Some are warnings, which stand above: the test's PostgreSQL does not wait for its disk, and a busy machine is slow.
    const own = page.locator(':is(.checks, .problems) li').filter({
      hasText: /^(?:OK|Warning|Critical|Failed|Skipped)(?:Database|Node)/,
    })
    expect(await own.count()).toBe(13)
    expect(await axeFaults(page)).toEqual([])
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await overflow(page)).toEqual([])
    await screenshot(page, `node-checks-${theme}`)
  })

  test('shows that a node drains and that it has ended', async () => {
    const page = await board.open('/health')
    const nodes = page.getByRole('region', { name: 'Nodes', exact: true })
    await second!.nodes.leave()
    await nodes.getByRole('row', { name: /mx2\.sender\.example.*Draining/s }).waitFor()
    await second!.close()
    second = null
    await nodes.getByRole('row', { name: /mx2\.sender\.example.*Ended/s }).waitFor()
  })
})
