import { connect } from 'node:net'

export type RawAnswer = { status: number; head: string; body: string }

/** Sends raw bytes and reads the first answer: for requests that no HTTP client would send. */
export function rawHttp(url: string, text: string | Buffer, withinMs = 15_000): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text))
    const chunks: Buffer[] = []
    const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${withinMs} ms`)), withinMs)
    const finish = () => {
      clearTimeout(timer)
      const [head = '', ...body] = Buffer.concat(chunks).toString().split('\r\n\r\n')
      const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0)
      resolve({ status, head, body: body.join('\r\n\r\n') })
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      const soFar = Buffer.concat(chunks).toString()
      const length = /content-length: (\d+)/i.exec(soFar)?.[1]
      const at = soFar.indexOf('\r\n\r\n')
      if (at >= 0 && length !== undefined && soFar.length >= at + 4 + Number(length)) socket.end()
    })
    socket.on('close', finish)
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A closed connection counts as an answer too.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return
      clearTimeout(timer)
      reject(error)
    })
  })
}
