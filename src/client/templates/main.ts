import { parseArgs } from 'node:util'
import { visible, visibleLines } from '../../net/visible-text.ts'
import { PostriderError } from '../errors.ts'
import { CommandFault } from './fault.ts'
import { importTemplates } from './import.ts'
import { pushTemplates } from './push.ts'
import { writeTypes } from './types.ts'

/** The program `postrider-templates` of the npm package: templates of React Email components and of other
 *  services, and the types of their variables. */

const USAGE = `Usage: postrider-templates push <files...> [--alias ALIAS] [--name NAME] [--subject TEXT] [--dry-run] [--json]
       postrider-templates import [export] --from SERVICE [--url URL] [--dry-run] [--json]
       postrider-templates types [--python] [--check FILE]

push turns React Email components into templates. A folder stands for the .tsx and .jsx files in it. The files run as
programs on this machine, with your rights. React, React Email and esbuild come from the project of the files:
npm install react react-dom @react-email/components esbuild

import translates the templates of another service to Liquid: resend, postmark, sendgrid, mailgun or ses. Without a file,
it calls the API of the service with the key in RESEND_API_KEY, POSTMARK_SERVER_TOKEN, SENDGRID_API_KEY or MAILGUN_API_KEY.
<export> is JSON with answers of that API, or the folder of \`postmark templates pull\`; ses needs one. --url is another
address of the API, and for mailgun the one of your domain: https://api.mailgun.net/v3/example.com

types prints the variables of your templates as types for TypeScript, or for Python with --python. With --check, it prints
nothing and fails if they differ from FILE.

POSTRIDER_URL and POSTRIDER_API_KEY name your server, and a key of it with the permission manage. A dry run reports only
and needs neither.

Exit codes: 0 done, 1 a template was not stored or FILE differs, 2 wrong usage.`

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (thrown) {
  const fault = faultOf(thrown)
  if (fault === null) throw thrown
  console.error(visibleLines(fault.message))
  process.exitCode = fault.exitCode
}

async function run(args: string[]): Promise<number> {
  const string = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const both = { 'dry-run': flag, json: flag, help: flag }
  const [command, ...rest] = args
  if (command === 'push') {
    const options = { ...both, alias: string, name: string, subject: string }
    const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true })
    if (values.help !== true) return pushTemplates(positionals, { ...values, dryRun: values['dry-run'] })
  } else if (command === 'import') {
    const options = { ...both, from: string, url: string }
    const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true })
    if (values.help !== true) return importTemplates(positionals, { ...values, dryRun: values['dry-run'] })
  } else if (command === 'types') {
    const options = { python: flag, check: string, help: flag }
    const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true })
    if (values.help !== true) return writeTypes(positionals, values)
  } else if (command !== undefined && command !== 'help' && command !== '--help') {
    throw new CommandFault(`unknown command ${command}\n\n${USAGE}`, 2)
  }
  console.log(USAGE)
  return 0
}

/** Null for a bug, whose stack the runtime prints. */
function faultOf(thrown: unknown): CommandFault | null {
  if (thrown instanceof CommandFault) return thrown
  if (thrown instanceof PostriderError) return new CommandFault(`the server: ${visible(thrown.message)}`)
  if (!(thrown instanceof Error) || !('code' in thrown)) return null
  const isUsage = String(thrown.code).startsWith('ERR_PARSE_ARGS')
  return isUsage || /^E[A-Z0-9]+$/.test(String(thrown.code)) ? new CommandFault(thrown.message, isUsage ? 2 : 1) : null
}
