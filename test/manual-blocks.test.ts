import { expect, test } from 'bun:test'
import { DOCUMENTATION } from './support/documentation.ts'

/** Every block of code of README and manual is run by a test, or is in the list of exceptions with its reason. */

interface Block {
  page: string
  /** Of a fenced block; '' for an indented one. */
  language: string
  /** The comment before a fenced block; '' without one. */
  mark: string
  first: string
}

/** What tests do with a mark: readme.test.ts, readme-server.test.ts, readme-nodes.test.ts, cli/dns-manual.test.ts, and the clients' tests run it;
 *  reference/examples.test.ts runs requests, and answers are checked against the API's document. */
const MARKS =
  /^<!-- (?:runs: .+|on the server(?:: exit \d)?|on (?:node \d|the database server)|at the DNS provider|(?:request|answer): \w+) -->$/

/** Config, which readme.test.ts reads with the program. */
const isConfig = ({ language, first }: Block) => language === 'toml' || (language === '' && /^\[\[?\w/.test(first))

/** Kinds of blocks that cannot run, by page and first line. */
const EXCEPTIONS: Record<string, Record<string, readonly string[]>> = {
  'installs the package, or changes the machine: test/service and test/release do it with a built one': {
    install: ['apt install ./postrider_'],
    operating: ['systemctl enable --now', 'useradd --system', 'docker load', 'docker run --rm', 'minisign -Vm'],
    python: ['pip install'],
    typescript: ['npm install'],
    php: ['composer config'],
    'react-email': ['npm install'],
    'try-out': ['./scripts/try '],
    'dns-apply': ['apt install lexicon'],
    README: ['./scripts/try '],
  },
  'needs a release, or another machine: test/faults/upgrade.test.ts and test/cli run the commands with them': {
    upgrade: [
      'postrider upgrade --from https',
      'postrider upgrade --from /media/release --signers',
      'postrider upgrade --from /media/release --stop',
      'postrider backup /var/backups',
    ],
    backup: ['postrider backup /var/backups', 'postrider restore postrider-2026'],
    nodes: ['postrider migrate --to-file', 'postrider upgrade --from', 'postrider restore adopt'],
    'move-to-postgresql': [
      'postrider migrate --to-file',
      'systemctl stop postrider',
      'postrider migrate --to /var',
      'postrider restore adopt',
      'postrider backup /var/backups',
    ],
    install: ['postrider init --domain example.com --hostname mail.example.com --smarthost'],
  },
  'keeps running until it is stopped: readme.test.ts runs listen and the receiver together': {
    install: ['export POSTRIDER_API_KEY='],
    webhooks: ['postrider listen --forward-to'],
    'try-out': ['./dist/postrider listen --forward-to', 'node receive.mjs'],
    'help-desk': ['./scripts/try ', 'node help-desk.ts'],
  },
  'has an address or a key of your own, which nobody else can use': {
    'command-line': ['export POSTRIDER_URL='],
    'react-email': ['export POSTRIDER_URL='],
    migration: ['POSTMARK_SERVER_TOKEN=', 'export POSTRIDER_URL='],
    'from-resend': ['RESEND_BASE_URL='],
    'quick-starts': ['POSTRIDER_URL='],
    agents: ['{'],
    canary: ['postrider canary run'],
    alerts: ['postrider alert test', 'postrider alert list'],
    'typed-templates': ['export POSTRIDER_URL='],
    'dns-apply': ['apt install lexicon'],
  },
  'is settings of another program or of public DNS: test/service/proxies.test.ts runs those of tls': {
    tls: ['mail.example.com {', 'server {'],
    nodes: ['mail.example.com {', 'bounces.example.com.'],
    metrics: ['rule_files:'],
    'dns-once': ['pm.example.net.', 'dig NS'],
    'single-sign-on': ['identity_providers:'],
  },
  'is a component that test/client/template-push.test.ts reads from the page': {
    'react-email': ['import { Button'],
  },
  'is a command that test/client/template-types.test.ts or test/walk runs': {
    'typed-templates': ['npx postrider-templates types --python', 'npx postrider-templates types --check'],
    'single-sign-on': ['printf '],
  },
  'shows what a program prints, or a part of a request': {
    'typed-templates': ['  "order-shipped": {'],
    'try-out': ['Postrider 0.1.0'],
    install: ['10:31:07'],
    backup: ['signed by'],
    errors: ['{'],
    alerts: ['{'],
    sending: ['{"attachments"'],
    architecture: ['example-parked'],
  },
  'measures for minutes': {
    performance: [
      './scripts/bun scripts/bench.ts  ',
      './scripts/bun scripts/bench.ts --only field',
      './scripts/bun scripts/bench.ts --only cluster',
    ],
  },
}

/** Blocks of a page in their order: fenced ones, and indented ones that no list item has. */
function blocksOf(path: string, text: string): Block[] {
  const page = path.replace(/^.*\//, '').replace('.md', '')
  const lines = text.split('\n')
  const found: Block[] = []
  let fence = ''
  lines.forEach((line, at) => {
    const before = lines[at - 1] ?? ''
    const isFence = line.startsWith('```')
    if (fence !== '') {
      if (isFence) fence = ''
    } else if (isFence) {
      fence = line
      found.push({
        page,
        language: line.slice(3),
        mark: before.startsWith('<!--') ? before : '',
        first: lines[at + 1]!,
      })
    } else if (line.startsWith('    ') && before === '') {
      found.push({ page, language: '', mark: '', first: line.trim() })
    }
  })
  return found
}

const BLOCKS = DOCUMENTATION.flatMap(({ path, text }) => blocksOf(path, text))
const ALLOWED = Object.values(EXCEPTIONS).flatMap((pages) =>
  Object.entries(pages).flatMap(([page, firsts]) => firsts.map((first) => ({ page, first }))),
)

test('a test runs every block of code of README and manual, except those with a reason', () => {
  const left = BLOCKS.filter((block) => !MARKS.test(block.mark) && !isConfig(block)).filter(
    ({ page, first }) => !ALLOWED.some((each) => each.page === page && first.startsWith(each.first)),
  )
  expect(left).toEqual([])
  expect(BLOCKS.filter(({ mark }) => MARKS.test(mark)).length).toBeGreaterThan(60)
})

test('every exception is the one of a block', () => {
  const blocks = BLOCKS.filter(({ mark }) => !MARKS.test(mark))
  const unused = ALLOWED.filter(
    ({ page, first }) => !blocks.some((block) => block.page === page && block.first.startsWith(first)),
  )
  expect(unused).toEqual([])
})
