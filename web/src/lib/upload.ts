import { ApiError, type FieldError } from '../api/client';

/** Sends a file as it is, or a form, and reports the share sent; fetch cannot tell how much of a body is out. */
export function upload<T>(path: string, file: File | FormData, onProgress: (share: number) => void, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    if (file instanceof File) request.setRequestHeader('Content-Type', 'application/octet-stream'); // of a form the browser says it itself
    request.setRequestHeader('Accept', 'application/json, application/problem+json');
    request.upload.onprogress = (event) => { if (event.lengthComputable) onProgress(event.loaded / event.total); };
    request.onerror = () => reject(new ApiError({ status: 0, code: 'unreachable', detail: 'The connection broke before the file was sent. Nothing was loaded; send it again.' }));
    request.onabort = () => reject(new ApiError({ status: 0, code: 'cancelled', detail: 'The upload was stopped. Nothing was loaded.' }));
    request.onload = () => {
      const body = parse(request.responseText);
      if (request.status < 300) resolve(body as T);
      else reject(new ApiError({ status: request.status, code: body.code ?? `http_${request.status}`, detail: body.detail ?? `The service answered ${request.status}.`, errors: body.errors }));
    };
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

function parse(text: string): { code?: string; detail?: string; errors?: FieldError[] } {
  try {
    return JSON.parse(text) as ReturnType<typeof parse>;
  } catch {
    return {}; // a proxy's page, not ours
  }
}
