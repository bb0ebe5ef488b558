import { describe, expect, test } from 'bun:test'
import { TOPICS } from '../../src/web/manual/contents.ts'
import { postrider } from './command.ts'

describe('postrider manual', () => {
  test('lists all topics with their titles', async () => {
    const { code, stdout } = await postrider('manual')
    const listed = [...stdout.matchAll(/^ {2}([\w-]+) {2,}(\S.*)$/gm)].map(([, topic]) => topic)
    expect([code, listed]).toEqual([0, [...TOPICS]])
    expect(stdout).toContain('tls                      HTTPS and certificates')
  })

  test('prints a page as text, without Markdown and at most 80 columns wide but for code', async () => {
    const { code, stdout } = await postrider('manual', 'backup')
    expect(code).toBe(0)
    expect(stdout).toStartWith('Backup and restore\n\n  Back up a running server')
    expect(stdout).toContain('    postrider backup /var/backups/postrider/ --keep 14')
    expect(stdout).not.toMatch(/\*\*|^#|\]\(|<!--/m)
    const wide = stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('    '))
    expect(wide).toEqual([])
  })

  test('prints the pages that are made from tables', async () => {
    const { stdout } = await postrider('manual', 'configuration-reference')
    expect(stdout).toContain('POSTRIDER_HTTP_LISTEN_TLS')
  })

  test.each([
    ['backups', 'Did you mean "backup"?'],
    ['trubleshooting', 'Did you mean "troubleshooting"?'],
    ['../../etc/passwd', ''],
    ['index', ''],
  ])('refuses the unknown topic %s with exit code 2', async (topic, hint) => {
    const { code, stdout, stderr } = await postrider('manual', topic)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`Unknown topic "${topic}". ${hint}`.trim())
    expect(stderr).toContain('"postrider manual" lists all topics.')
  })
})
