/** Services outside of the program that wrap the root key. */

export { type KeyService, KeyServiceAway, KeyServiceRefused } from './key-service.ts'
export { openKeyService } from './open.ts'
