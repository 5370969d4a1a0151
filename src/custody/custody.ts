declare const opaque: unique symbol

/** The keys of this process: opened once at boot, passed around, never looked into from outside. */
export type Custody = { readonly [opaque]: true; close(): Promise<void> }

/** An entity secret that was proven right for one request; it opens that entity's wallet keys. */
export type EntitySecret = { readonly [opaque]: 'secret'; readonly entityId: string }
