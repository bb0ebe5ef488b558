import { serveThread } from '../../os/thread-entry.ts'
import { readerInside } from './reader.ts'

/** A reader thread, used where no confined process is available. */
serveThread(readerInside)
