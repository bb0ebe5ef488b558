import type { RequestClock, SignedServer } from '../name-server/signed-connection.ts'
import { TRANSFER_LIMITS, transferZone } from '../name-server/transfer/transfer.ts'
import { connectToUpdate, NO_CHANGE } from '../name-server/update-client.ts'

/** Whether the server takes updates and transfers of the zone: a change of nothing, and the first message of a transfer.
 *  Resolves with what is wrong, null if nothing is. */
export async function probeZoneUpdate(server: SignedServer, zone: string, clock: RequestClock): Promise<string | null> {
  const connection = connectToUpdate(server, clock, LIMIT_MS)
  try {
    await connection.update(zone, NO_CHANGE)
    await transferZone(server, zone, { clock, limits: { ...TRANSFER_LIMITS, ms: LIMIT_MS }, isTrial: true })
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    connection.close()
  }
}

/** For each of the two; a health check takes at most six seconds. */
const LIMIT_MS = 2_500
