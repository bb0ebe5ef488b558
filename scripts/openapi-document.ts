import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packedManual } from '../src/cli/manual/packed.ts'
import { makeConfig } from '../src/config/load.ts'
import { silentLog } from '../src/os/log.ts'
import { startServer } from '../src/server/server.ts'

/** Starts a server and returns the OpenAPI document that it serves. */
export async function openApiDocument(): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-openapi-'))
  const config = makeConfig({
    hostname: 'mail.postrider.test',
    data_dir: folder,
    http: { listen: '127.0.0.1:0' },
    smtp: { inbound: { listen: 'off' } },
  })
  const server = await startServer(config, { log: silentLog, manual: packedManual })
  try {
    const response = await fetch(`http://${server.listening.http}/openapi.json`)
    return await response.json()
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
