import { blockedTarget } from '../model/blocked-link.ts'
import { withCliContext } from './cli-context.ts'
import { CommandFailure } from './failure.ts'
import { print, printJson, sanitize, table } from './print.ts'
import type { BlockedLinkRecord } from './results.ts'

interface Options {
  config: string
  json?: true
}

/** Blocks a host or a URL as a target of tracked links and prints the record. Throws Refusal for an invalid target. */
export async function blockLink(target: string, options: Options & { reason: string }): Promise<void> {
  await withCliContext(options.config, async ({ operator }) => {
    const body = { target, reason: options.reason }
    show([await operator.run('blocked_links_create', { organizationId: '', body })], options)
  })
}

/** Removes a block, by its id or its target. Throws CommandFailure if the target is not blocked. */
export async function unblockLink(idOrTarget: string, options: Options): Promise<void> {
  await withCliContext(options.config, async ({ operator }) => {
    const value = blockedTarget(idOrTarget)?.value
    const all = await operator.listAll('blocked_links_list', '')
    const found = all.find(({ id, target }) => id === idOrTarget || target === value)
    if (found === undefined)
      throw new CommandFailure(`link: ${idOrTarget} is not blocked. List blocked targets with: postrider link list`)
    const params = { blocked_link_id: found.id }
    const answer = await operator.run('blocked_links_delete', { organizationId: '', params })
    if (options.json) printJson(answer)
    else print(`${found.target} is no longer blocked`)
  })
}

/** Prints all blocked targets, newest first, or "no blocked links". */
export async function listBlockedLinks(options: Options): Promise<void> {
  await withCliContext(options.config, async ({ operator }) => {
    const all = await operator.listAll('blocked_links_list', '')
    if (options.json) printJson({ data: all })
    else show(all, options)
  })
}

function show(records: BlockedLinkRecord[], { json }: Options): void {
  if (json) {
    printJson(records[0])
    return
  }
  const rows = records.map(({ id, target, reason, created_at }) => [id, target, reason, created_at].map(sanitize))
  print(table(['id', 'target', 'reason', 'created'], rows) || 'no blocked links')
}
