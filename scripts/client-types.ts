/** The OpenAPI document → the generated part of the client: api.ts, types.ts and routes.ts in src/client. Run it
 *  after a change of what the API takes or answers; test/client/types.test.ts holds the files to the document. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeConfig } from '../src/config/load.ts'
import { silentLog } from '../src/os/log.ts'
import { startServer } from '../src/server/server.ts'
import { clientFiles } from './client/files.ts'

const SRC = join(import.meta.dir, '../src/client')

for (const [name, text] of Object.entries(clientFiles(await documentOfHouse()))) {
  writeFileSync(join(SRC, name), text)
  console.log(`src/client/${name}`)
}

/** As a server gives it. */
async function documentOfHouse() {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-client-types-'))
  const config = makeConfig({
    hostname: 'mail.postrider.test',
    data_dir: folder,
    http: { listen: '127.0.0.1:0' },
    smtp: { inbound: { listen: 'off' } },
  })
  const server = await startServer(config, { log: silentLog })
  try {
    const answer = await fetch(`http://${server.listening.http}/openapi.json`)
    return await answer.json()
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
