import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LAST_BACKUP_FILE, noteBackup } from '../../os/last-backup.ts'
import { checkBackup, checkHeld } from './backup.ts'

const HOUR_MS = 3_600_000
const NOW = Date.UTC(2026, 10, 21, 12)

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-backup-check-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

test('without a backup, or with an old one, it says what to do', () => {
  expect(checkBackup(dataDir, NOW)).toMatchObject({ status: 'warn', message: 'no backup has been made yet' })
  noteBackup(dataDir, { madeAt: NOW - 30 * HOUR_MS, bytes: 12, to: '/var/backups/one', signedBy: 'ed25519:A' })
  expect(checkBackup(dataDir, NOW)).toEqual({
    status: 'pass',
    message: 'last backup 30 hours ago, to /var/backups/one, signed by ed25519:A',
    advice: null,
  })
  expect(checkBackup(dataDir, NOW + 19 * HOUR_MS)).toMatchObject({
    status: 'warn',
    message: 'last backup 2 days ago, to /var/backups/one, signed by ed25519:A',
  })
  expect(statSync(join(dataDir, LAST_BACKUP_FILE)).mode & 0o777).toBe(0o600)
  writeFileSync(join(dataDir, LAST_BACKUP_FILE), 'broken')
  expect(checkBackup(dataDir, NOW).status).toBe('warn')
})

// threat: links-in-data-directory
test('removes what occupies the path of the note, and never writes into it', () => {
  const foreign = join(dataDir, 'foreign')
  writeFileSync(foreign, 'of somebody else')
  symlinkSync(foreign, join(dataDir, `${LAST_BACKUP_FILE}.new`))
  noteBackup(dataDir, { madeAt: NOW, bytes: 12, to: '/var/backups/one', signedBy: 'ed25519:A' })
  expect(readFileSync(foreign, 'utf8')).toBe('of somebody else')
  expect(checkBackup(dataDir, NOW)).toMatchObject({
    status: 'pass',
    message: 'last backup less than an hour ago, to /var/backups/one, signed by ed25519:A',
  })
})

test('reports what is on hold since a restore', async () => {
  const held = (deliveries: number) => ({
    count: async () => ({ deliveries, webhookDeliveries: 0, inboundDeliveries: 0 }),
  })
  expect((await checkHeld(held(0))).status).toBe('pass')
  expect(await checkHeld(held(3))).toMatchObject({
    status: 'warn',
    message: 'held after a restore: 3 deliveries, 0 webhook deliveries and 0 inbound deliveries',
  })
})
