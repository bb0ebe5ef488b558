import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider node …`. */
export function addNodes(program: Command): void {
  const node = program.command('node').description('manage the nodes of an installation on PostgreSQL')
  withRecords(node.command('list'))
    .description('list nodes with their state, slots and attempts in progress')
    .action(async (options) => (await import('../node.ts')).listNodes(options))
  withRecords(node.command('drain <name>'))
    .description('let other nodes take over the work of a node, which continues to answer HTTP and SMTP')
    .action(async (name, options) => (await import('../node.ts')).drainNode(name, options))
  withRecords(node.command('forget <name>'))
    .description('take an ended node off the list')
    .action(async (name, options) => (await import('../node.ts')).forgetNode(name, options))
}
