import type { IncomingMessage } from 'node:http'

/** Reads the body of a request; undefined where it has more bytes than the node reads. */
export async function readLimitedBody(
  incoming: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes <= maxBytes) chunks.push(chunk)
  }
  return sizeBytes > maxBytes ? undefined : Buffer.concat(chunks)
}
