import type { Server } from 'node:http'

/** Answers WebSocket handshakes as a node without that protocol does. A client may leave before it has read the answer. */
export function refuseUpgrades(server: Server): void {
  server.on('upgrade', (_, socket) => {
    socket.on('error', () => undefined)
    socket.end('HTTP/1.1 404 Not Found\r\n\r\n')
  })
}
