import type { Command } from 'commander'
import { seconds, withRecords } from '../options.ts'

/** `dns show` and `dns check`. */
export function addDns(program: Command, end: (code: number) => void): void {
  const dns = program.command('dns').description('show and check the DNS records of a sending domain')
  withRecords(dns.command('show <domain>'))
    .description('print the records to publish, as a table or as zone file lines')
    .option('--zone', 'print zone file lines in BIND format')
    .action(async (name, options) => (await import('../dns.ts')).showDns(name, options))
  withRecords(dns.command('check <domain>'))
    .description("query the domain's name servers; exits with 0 only if all required records are correct")
    .option('--wait', 'repeat until all required records are correct')
    .option('--timeout <seconds>', 'maximum time to wait', seconds, 3600)
    .action(async (name, options) => end(await (await import('../dns.ts')).checkDns(name, options)))
}
